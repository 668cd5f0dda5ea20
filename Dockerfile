# Situs with compiled kernels, for a user without rights:
#   docker build -t situs .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" situs build masks scans --out bench
# The key for opaque ids is kept in /data/.situs: the same scans get the same ids in the next container.
FROM python:3.12-slim
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir -c constraints.txt '.[dicom,fastmri]' \
    && rm -rf /src \
    && useradd --create-home --uid 1000 situs \
    && install -d -o situs /data /opt/situs
USER situs
WORKDIR /data
# Machine code is compiled now, and any user of the image may use it: no container compiles again.
ENV NUMBA_CACHE_DIR=/opt/situs/numba
RUN situs doctor --warm && chmod -R a+rwX /opt/situs
ENV XDG_CONFIG_HOME=/data/.situs/config XDG_CACHE_HOME=/data/.situs/cache
ENTRYPOINT ["situs"]
CMD ["--help"]
