-- What is not asked about again under another key: calls that people denied, by their arguments.
CREATE INDEX operations_denied ON operations (tenant, scope, args_hash) WHERE state = 'denied';
