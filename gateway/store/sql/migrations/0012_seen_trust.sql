-- Who can write the results that values came from; of older ones nobody has said.
ALTER TABLE seen_values ADD COLUMN trust TEXT NOT NULL DEFAULT 'tenant';
