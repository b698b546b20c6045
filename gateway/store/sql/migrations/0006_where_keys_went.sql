-- Where the server got its key, such as `header:Idempotency-Key`; empty where it got none.
ALTER TABLE operations ADD COLUMN injection TEXT NOT NULL DEFAULT '';
