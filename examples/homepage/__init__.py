"""The homepage: five queue families and fourteen job types that keep its feeds, listings, pictures and mail going."""
