"""Which environment variables hold credentials, judged by their names alone."""

from __future__ import annotations

import re

# "TOKENS" is a number ("MAX_TOKENS"), and a name such as KEY_FILE says where a secret is, not what it is.
_SECRET_NAME = re.compile(
    r"(?:(?:^|_)(?:key|auth|pass|credential)s?|(?:apikey|secret|password|passwd|passphrase)s?|token|_pwd)(?:_|$)"
    r"(?!(?:\w*_)?(?:file|path|dir|sock)$)",
    re.IGNORECASE,
)

_KNOWN_CREDENTIALS = frozenset({
    "AZURE_STORAGE_CONNECTION_STRING", "APPLICATIONINSIGHTS_CONNECTION_STRING", "GOOGLE_APPLICATION_CREDENTIALS",
    "DATABASE_URL", "DATABASE_URI", "DB_URL", "DATABASE_DSN", "POSTGRES_URL", "POSTGRESQL_URL", "MYSQL_URL",
    "MONGO_URL", "MONGODB_URI", "MONGODB_URL", "REDIS_URL", "AMQP_URL", "RABBITMQ_URL", "CLOUDAMQP_URL",
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX",
    "SENTRY_DSN", "SLACK_WEBHOOK_URL", "SLACK_WEBHOOK", "DISCORD_WEBHOOK_URL", "TEAMS_WEBHOOK_URL",
    "KUBECONFIG", "KUBE_CONFIG", "KUBECONFIG_DATA", "DOCKER_AUTH_CONFIG", "SSH_AUTH_SOCK", "SSH_PRIVATE_KEY", "NETRC",
    "CELERY_BROKER_URL", "PASSWORD", "SECRET_KEY", "PGPASSWORD", "MYSQL_PWD", "NODE_AUTH_TOKEN", "SYSTEM_ACCESSTOKEN",
    "CONAN_PASSWORD", "ENCRYPTION_KEY", "MASTER_KEY", "RAILS_MASTER_KEY", "RENDER_API_KEY", "SNYK_TOKEN",
    "CODECOV_TOKEN",
})  # fmt: skip
"""Variables that tools and services read their credentials from, whatever their names look like."""

_FAMILIES = (
    # Clouds
    "AWS_", "AZURE_", "ARM_", "GOOGLE_", "GCP_", "GCLOUD_", "CLOUDSDK_", "OCI_", "ALIBABA_", "IBMCLOUD_", "CLOUDFLARE_",
    "CF_", "DIGITALOCEAN_", "HEROKU_", "FLY_", "NETLIFY_", "VERCEL_", "HCLOUD_", "LINODE_", "SCW_", "OVH_",
    # Source control and builds
    "GITHUB_", "GH_", "GITLAB_", "CI_", "BITBUCKET_", "GITEA_", "GIT_", "ACTIONS_", "CIRCLE_", "TRAVIS_", "BUILDKITE_",
    "JENKINS_", "SONAR_", "VSS_", "JIRA_", "ATLASSIAN_", "CONFLUENCE_", "LINEAR_", "NOTION_",
    # Package indexes and registries
    "NPM_", "YARN_", "TWINE_", "PYPI_", "UV_", "PIP_", "POETRY_", "PDM_", "HATCH_", "FLIT_", "CARGO_", "GEM_", "NUGET_",
    "MAVEN_", "GRADLE_", "ARTIFACTORY_", "JFROG_", "NEXUS_", "CONDA_", "ANACONDA_", "DOCKER_", "REGISTRY_",
    "DOCKERHUB_",
    # Models and data
    "OPENAI_", "ANTHROPIC_", "CLAUDE_", "GEMINI_", "MISTRAL_", "GROQ_", "COHERE_", "CO_API_", "DEEPSEEK_", "XAI_",
    "TOGETHER_", "FIREWORKS_", "OPENROUTER_", "PERPLEXITY_", "CEREBRAS_", "REPLICATE_", "HF_", "HUGGINGFACE_",
    "HUGGING_FACE_", "WANDB_", "LANGSMITH_", "LANGCHAIN_", "LANGFUSE_", "PINECONE_", "ELEVENLABS_", "VOYAGE_", "JINA_",
    "TAVILY_", "SERPAPI_", "KAGGLE_", "SNOWFLAKE_", "DATABRICKS_", "POSTGRES_", "PG", "MYSQL_", "MARIADB_", "REDIS_",
    "MONGO_", "MONGODB_", "DB_", "DATABASE_", "ELASTIC_", "SUPABASE_",
    # Access, secrets and messages
    "SSH_", "GPG_", "KUBE_", "KUBERNETES_", "VAULT_", "CONSUL_", "NOMAD_", "TF_", "PULUMI_", "ANSIBLE_", "OP_", "BW_",
    "SOPS_", "OKTA_", "AUTH0_", "JWT_", "DJANGO_", "FLASK_", "SLACK_", "DISCORD_", "TELEGRAM_", "STRIPE_", "PAYPAL_",
    "SENTRY_", "DATADOG_", "DD_", "NEW_RELIC_", "PAGERDUTY_", "TWILIO_", "SENDGRID_", "MAILGUN_", "SMTP_", "SALVO_",
)  # fmt: skip
"""Services whose variables hold credentials where the rest of the name looks secret: AWS_REGION is none."""


def looks_secret(name: str) -> bool:
    """Return whether a variable's name says that its value is a secret."""
    return _SECRET_NAME.search(name) is not None


def is_known_credential(name: str) -> bool:
    """Return whether a variable is where a well-known tool or service reads a credential from."""
    upper = name.upper()
    return upper in _KNOWN_CREDENTIALS or (upper.startswith(_FAMILIES) and looks_secret(name))


_SECRET_SEGMENTS = frozenset({"token", "key", "apikey", "secret", "password"})
_PLACES = frozenset({"file", "path", "dir", "sock"})
_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def has_secret_segment(name: str) -> bool:
    """Return whether one of the words of an option's name says that its value is a secret.

    Words are separated by other characters or written inCamelCase. `max_tokens` is a number, and `key_file` says where
    a secret is.
    """
    segments = [segment.lower() for segment in _SEGMENT.findall(name)]
    return not _SECRET_SEGMENTS.isdisjoint(segments) and segments[-1] not in _PLACES
