#!/bin/bash
# One vLLM server a node, and one run that shares its questions among them. Submitted again, the run resumes, on whatever nodes.
#
#   sbatch --export=ALL,MODEL=/models/Qwen3-VL-8B-Instruct,BENCH=/data/bench,OUT=/data/runs/qwen recipes/vllm/slurm.sh
#
# Restricted data: the servers are other machines, though of your own cluster. Vouch for each of them with --trust-host, or send
# SITUS_OPTIONS=--allow-remote along. Anybody who can reach the nodes can ask the servers.
#SBATCH --job-name=situs-vllm --nodes=4 --ntasks-per-node=1 --gpus-per-node=1 --cpus-per-task=16 --mem=96G --time=12:00:00
set -euo pipefail
: "${MODEL:?}" "${BENCH:?}" "${OUT:?}"

srun vllm serve "$MODEL" --served-model-name judged --host 0.0.0.0 --port 8000 --enable-prefix-caching \
    --limit-mm-per-prompt '{"image": 64}' --max-model-len 65536 &
servers=$!
trap 'kill "$servers" 2>/dev/null || true' EXIT

urls=""
for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
    until curl -fs "http://$node:8000/health" >/dev/null; do
        kill -0 "$servers" || { echo "a server ended before it was ready" >&2; exit 1; }
        sleep 5
    done
    urls="$urls,http://$node:8000/v1"
done

# What is served is stated, so that the next job goes on with the run on other nodes.
situs run "$BENCH" --model "openai:judged@${urls#,}?weights=$(basename "$MODEL")" --concurrency $((16 * SLURM_NNODES)) \
    --out "$OUT" ${SITUS_OPTIONS:-}
situs score "$BENCH" "$OUT"
