# An application's own image: its packages and job types on top of Postmill's. Change what is in `jobs`.
#   docker build --file app.Dockerfile --tag shop-jobs:1 .

FROM postmill:0.1.0

USER 0:0
COPY requirements.txt /tmp/requirements.txt
RUN /opt/postmill/bin/pip install --no-cache-dir --disable-pip-version-check --requirement /tmp/requirements.txt \
    && rm /tmp/requirements.txt
COPY jobs /app/jobs
USER 10001:10001

CMD ["worker", "jobs"]
