select batch_delay from ai_tagging_pace where provider = 'anthropic'
