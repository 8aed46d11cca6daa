"""A pytest plugin that checks level packs: one test item a Stage."""
