-- What may not be sent beside something else: the open operations of one user, by their arguments.
CREATE INDEX operations_open ON operations (tenant, actor_user, args_hash)
    WHERE state IN ('dispatching', 'indeterminate');
