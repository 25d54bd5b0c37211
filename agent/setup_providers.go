package agent

// KnownProvider is what setup knows about a provider beforehand.
type KnownProvider struct {
	ID      string // what --provider takes, and the name in model references
	Title   string
	BaseURL string
	KeyEnv  string // the usual variable of its key; "" when none is needed
	// Model is a model id to begin with. It is empty where ids come and go too
	// fast to write one down, and where they are what the user has loaded.
	Model string
}

// KnownProviders lists the providers that setup offers, in its order. All of
// them speak the chat completions of OpenAI.
func KnownProviders() []KnownProvider {
	return []KnownProvider{
		{"deepseek", "DeepSeek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-flash"},
		{"openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", ""},
		{"openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ""},
		{"moonshot", "Moonshot (Kimi)", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", ""},
		{"dashscope", "DashScope (Qwen)", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", ""},
		{"zhipu", "Zhipu (GLM)", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY", ""},
		{"mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", ""},
		{"groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", ""},
		{"together", "Together", "https://api.together.ai/v1", "TOGETHER_API_KEY", ""},
		{"ollama", "Ollama, on this machine", "http://localhost:11434/v1", "", ""},
		{"lmstudio", "LM Studio, on this machine", "http://localhost:1234/v1", "", ""},
		{"llamacpp", "llama.cpp server, on this machine", "http://127.0.0.1:8080/v1", "", ""},
		{"vllm", "vLLM, on this machine", "http://localhost:8000/v1", "", ""},
	}
}
