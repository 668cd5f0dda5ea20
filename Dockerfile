# Situs with compiled kernels, for a user without rights:
#   docker build -t situs .
#   docker run --rm -v "$PWD:/data" situs build masks scans --out bench
FROM python:3.12-slim
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir -c constraints.txt '.[dicom,fastmri]' \
    && rm -rf /src \
    && useradd --create-home --uid 1000 situs \
    && install -d -o situs /data
USER situs
WORKDIR /data
# Machine code is kept in the user's home: compiled now, no container compiles again.
ENV NUMBA_CACHE_DIR=/home/situs/.cache/numba
RUN situs doctor --warm
ENTRYPOINT ["situs"]
CMD ["--help"]
