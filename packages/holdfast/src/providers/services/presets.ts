import type { Api } from './api.ts'

/** A service whose models are called `name/model`. */
export type Preset = {
  readonly name: string
  readonly title: string
  readonly api: Api
  /** With the version of its API. */
  readonly baseUrl: string
  /** Variables that may name another address. */
  readonly baseUrlNames: readonly string[]
  /** Variables that may hold its key; the first that does counts. */
  readonly keyNames: readonly string[]
  readonly needsKey: boolean
  /** Where it tells about a key, if its list of models tells nothing: that is open to everyone. */
  readonly keyPath?: string
  /** The one of its models that we would take, if its key is all we know. */
  readonly defaultModel?: string
  /** The service whose key and models these are, behind another API. */
  readonly sameAs?: string
  /** How it is asked for its models while it runs on this machine. */
  readonly asked?: 'ollama' | 'list'
  /** At its usual port anything may run, so it is asked only where a person named its address. */
  readonly isAskedOnlyWhereNamed?: true
  /** A variable that names host and port of a server on this machine, as the server itself reads it. */
  readonly localHostName?: string
}

/** Every service known by name, in the order in which a default is looked for. A further one is a further row. */
export const presets: readonly Preset[] = [
  {
    name: 'anthropic',
    title: 'Anthropic',
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    baseUrlNames: ['ANTHROPIC_BASE_URL'],
    keyNames: ['ANTHROPIC_API_KEY'],
    needsKey: true,
    defaultModel: 'claude-sonnet-5-5',
  },
  {
    name: 'openai',
    title: 'OpenAI',
    api: 'responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlNames: ['OPENAI_BASE_URL'],
    keyNames: ['OPENAI_API_KEY'],
    needsKey: true,
    defaultModel: 'gpt-6.1-sol',
  },
  {
    name: 'openai-chat',
    title: 'OpenAI (Chat Completions)',
    api: 'completions',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlNames: ['OPENAI_BASE_URL'],
    keyNames: ['OPENAI_API_KEY'],
    needsKey: true,
    sameAs: 'openai',
  },
  {
    name: 'google',
    title: 'Google',
    api: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    baseUrlNames: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GEMINI_BASE_URL'],
    keyNames: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    needsKey: true,
    defaultModel: 'gemini-3.8-flash',
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    api: 'chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    baseUrlNames: ['OPENROUTER_BASE_URL'],
    keyNames: ['OPENROUTER_API_KEY'],
    needsKey: true,
    keyPath: '/key',
    defaultModel: 'anthropic/claude-sonnet-5',
  },
  {
    name: 'groq',
    title: 'Groq',
    api: 'chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    baseUrlNames: ['GROQ_BASE_URL'],
    keyNames: ['GROQ_API_KEY'],
    needsKey: true,
    defaultModel: 'openai/gpt-oss-120b',
  },
  {
    name: 'mistral',
    title: 'Mistral',
    api: 'chat',
    baseUrl: 'https://api.mistral.ai/v1',
    baseUrlNames: ['MISTRAL_BASE_URL'],
    keyNames: ['MISTRAL_API_KEY'],
    needsKey: true,
    defaultModel: 'mistral-medium-latest',
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    api: 'chat',
    baseUrl: 'https://api.deepseek.com/v1',
    baseUrlNames: ['DEEPSEEK_BASE_URL'],
    keyNames: ['DEEPSEEK_API_KEY'],
    needsKey: true,
    defaultModel: 'deepseek-v4-pro',
  },
  {
    name: 'ollama',
    title: 'Ollama',
    api: 'chat',
    baseUrl: 'http://127.0.0.1:11434/v1',
    baseUrlNames: ['OLLAMA_BASE_URL'],
    keyNames: [], // `OLLAMA_API_KEY` is for its service in the cloud, and must not come here
    needsKey: false,
    asked: 'ollama',
    localHostName: 'OLLAMA_HOST',
  },
  {
    name: 'lmstudio',
    title: 'LM Studio',
    api: 'chat',
    baseUrl: 'http://127.0.0.1:1234/v1',
    baseUrlNames: ['LMSTUDIO_BASE_URL'],
    keyNames: ['LMSTUDIO_API_KEY'],
    needsKey: false,
    asked: 'list',
  },
  {
    name: 'vllm',
    title: 'vLLM',
    api: 'chat',
    baseUrl: 'http://127.0.0.1:8000/v1',
    baseUrlNames: ['VLLM_BASE_URL'],
    keyNames: ['VLLM_API_KEY'],
    needsKey: false,
    asked: 'list',
    isAskedOnlyWhereNamed: true,
  },
]
