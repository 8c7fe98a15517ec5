/** The API of a service. `responses` and `completions` are OpenAI's own; `chat` is its copy at other services. */
export type Api = 'anthropic' | 'responses' | 'completions' | 'google' | 'chat'

/** A service whose models are called `name/model`. */
export type Preset = {
  readonly name: string
  readonly title: string
  readonly api: Api
  /** With the version of its API. */
  readonly baseUrl: string
  /** Variables that may set another address. */
  readonly baseUrlNames: readonly string[]
  /** Variables that may hold its key; the first one set is used. */
  readonly keyNames: readonly string[]
  readonly needsKey: boolean
  /** Where to check a key, if the list of models is public. */
  readonly keyPath?: string
  /** The default model, if a key for this service is found. */
  readonly defaultModel?: string
  /** The service with the same key and models, behind another API. */
  readonly sameAs?: string
  /** How to list its models while it runs on this machine. */
  readonly discovery?: 'ollama' | 'list'
  /** Its default port is used by many programs, so it is queried only at an address that a person gave. */
  readonly isDiscoveredOnlyIfNamed?: true
  /** A variable with host and port of a local server, as the server itself reads it. */
  readonly localHostName?: string
}

/** Fills in the names of the variables: `GROQ_API_KEY` and `GROQ_BASE_URL`. */
const preset = ({
  needsKey = true,
  ...given
}: Pick<Preset, 'name' | 'title' | 'api' | 'baseUrl'> & Partial<Preset>) => {
  const prefix = given.name.toUpperCase()
  return { baseUrlNames: [`${prefix}_BASE_URL`], keyNames: [`${prefix}_API_KEY`], needsKey, ...given } satisfies Preset
}

/** All services known by name, in the order in which a default model is looked for. */
export const presets: readonly Preset[] = [
  preset({
    name: 'anthropic',
    title: 'Anthropic',
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    defaultModel: 'claude-sonnet-5-5',
  }),
  preset({
    name: 'openai',
    title: 'OpenAI',
    api: 'responses',
    baseUrl: 'https://api.openai.com/v1',
    defaultModel: 'gpt-6.1-sol',
  }),
  preset({
    name: 'openai-chat',
    title: 'OpenAI (Chat Completions)',
    api: 'completions',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlNames: ['OPENAI_BASE_URL'],
    keyNames: ['OPENAI_API_KEY'],
    sameAs: 'openai',
  }),
  preset({
    name: 'google',
    title: 'Google',
    api: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    baseUrlNames: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GEMINI_BASE_URL'],
    keyNames: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    defaultModel: 'gemini-3.8-flash',
  }),
  preset({
    name: 'openrouter',
    title: 'OpenRouter',
    api: 'chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyPath: '/key',
    defaultModel: 'anthropic/claude-sonnet-5',
  }),
  preset({
    name: 'groq',
    title: 'Groq',
    api: 'chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    defaultModel: 'openai/gpt-oss-120b',
  }),
  preset({
    name: 'mistral',
    title: 'Mistral',
    api: 'chat',
    baseUrl: 'https://api.mistral.ai/v1',
    defaultModel: 'mistral-medium-latest',
  }),
  preset({
    name: 'deepseek',
    title: 'DeepSeek',
    api: 'chat',
    baseUrl: 'https://api.deepseek.com/v1',
    defaultModel: 'deepseek-v4-pro',
  }),
  preset({
    name: 'ollama',
    title: 'Ollama',
    api: 'chat',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyNames: [], // `OLLAMA_API_KEY` is for its cloud service, and must not be sent to a local server
    needsKey: false,
    discovery: 'ollama',
    localHostName: 'OLLAMA_HOST',
  }),
  preset({
    name: 'lmstudio',
    title: 'LM Studio',
    api: 'chat',
    baseUrl: 'http://127.0.0.1:1234/v1',
    needsKey: false,
    discovery: 'list',
  }),
  preset({
    name: 'vllm',
    title: 'vLLM',
    api: 'chat',
    baseUrl: 'http://127.0.0.1:8000/v1',
    needsKey: false,
    discovery: 'list',
    isDiscoveredOnlyIfNamed: true,
  }),
]

/** Returns the preset that a service is, by its name or else by its address; null if it is none. */
export function findPresetName(name: string, baseUrl: string): string | null {
  const isThere = (preset: Preset) =>
    URL.canParse(baseUrl) && new URL(preset.baseUrl).origin === new URL(baseUrl).origin
  return (presets.find((preset) => preset.name === name) ?? presets.find(isThere))?.name ?? null
}
