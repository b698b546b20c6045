-- The account of the machine that made a link; empty in rows of before: nobody noted it.
ALTER TABLE login_links ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
