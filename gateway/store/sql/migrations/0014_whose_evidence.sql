-- Which tool a reference is from (`server.name`): whoever could not call it is not told. Empty for
-- what a host tells of, and for resources, which have no contract.
ALTER TABLE run_evidence ADD COLUMN tool TEXT NOT NULL DEFAULT '';
