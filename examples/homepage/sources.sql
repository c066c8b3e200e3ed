-- The sources that a new installation begins with, at the intervals of their categories. What is there stays as it is.
insert into rss_sources (name, url, category, refresh_interval_minutes) values
    ('Reuters', 'https://www.reutersagency.com/feed/', 'Breaking News', 15),
    ('BBC News', 'https://feeds.bbci.co.uk/news/rss.xml', 'Breaking News', 15),
    ('AP', 'https://apnews.com/index.rss', 'Breaking News', 15),
    ('TechCrunch', 'https://techcrunch.com/feed/', 'Tech News', 60),
    ('Hacker News', 'https://news.ycombinator.com/rss', 'Tech News', 60),
    ('Financial Times', 'https://www.ft.com/rss/home', 'Analysis/Opinion', 360),
    ('Scientific American', 'http://rss.sciam.com/ScientificAmerican-Global', 'Analysis/Opinion', 360),
    ('ESPN', 'https://www.espn.com/espn/rss/news', 'Sports/Entertainment', 30),
    ('Variety', 'https://variety.com/feed/', 'Sports/Entertainment', 120)
on conflict (url) do nothing;
