import {
  type Answer,
  type CommandInput,
  CycledModel,
  type FrameOf,
  type ListedModel,
  orThrow,
  type SessionHandle,
  type SubmitOptions,
  ThinkingLevel,
} from '@holdfast/protocol'

export type CycleOptions = SubmitOptions & {
  /** `next` when absent. */
  readonly direction?: 'next' | 'previous' | undefined
}

export type ProviderInUse = {
  readonly provider: string
  readonly model: string
  /** Null where it has none, or nobody who runs the session could be asked. */
  readonly endpoint: string | null
  readonly abilities: {
    /** How many tokens it takes; null when nobody knows, or could be asked. */
    readonly contextTokens: number | null
    /** Which files it takes beside text: media types. */
    readonly files: readonly string[]
    /** Which thinking levels it knows. */
    readonly thinkingLevels: readonly ThinkingLevel[]
  }
}

/** Which model the session talks to, how hard that thinks, and whether it can be called. */
export interface SessionModels {
  /** Holds from the next step on; what was said stays. */
  setModel(model: string, options?: SubmitOptions): Promise<Answer['result']>
  /** The next model of the configured rotation. Refused: no_rotation. */
  cycleModel(options?: CycleOptions): Promise<CycledModel>
  /** Refused: unknown_level, when the model does not know it. */
  setThinkingLevel(level: ThinkingLevel, options?: SubmitOptions): Promise<Answer['result']>
  /** The next level that the model knows; answers the one that holds now. */
  cycleThinkingLevel(options?: SubmitOptions): Promise<ThinkingLevel>
  /** The models that can be called now. */
  getAvailableModels(): Promise<readonly ListedModel[]>
  /** Whose model it talks to, which, where, and what that takes; never the key. */
  getProvider(): Promise<ProviderInUse>
  /** Looks anew for credentials, for all sessions of the process; answers whether this one's model can be called now. Refused: storage_error. */
  refreshCredentials(options?: SubmitOptions): Promise<boolean | null>
  /** Whether the session's model could be called now; null when nobody who runs the session could be asked. */
  credentialsConfigured(): Promise<boolean | null>
}

export function createSessionModels(handle: SessionHandle): SessionModels {
  const submit = async (command: CommandInput, options?: SubmitOptions) =>
    orThrow(await handle.submit(command, options)).result
  const snapshot = async () => orThrow(await handle.snapshot())
  const credentialsConfigured = async () => (await snapshot()).here?.credentialsConfigured ?? null
  return {
    setModel: (model, options) => submit({ type: 'setModel', model }, options),
    async cycleModel({ direction, ...options } = {}) {
      const command = { type: 'cycleModel', ...(direction !== undefined && { direction }) } as const
      return CycledModel.parse(await submit(command, options))
    },
    setThinkingLevel: (level, options) => submit({ type: 'setThinkingLevel', level }, options),
    async cycleThinkingLevel(options) {
      const { thinkingLevel } = await submit({ type: 'cycleThinkingLevel' }, options)
      // A model that knows one level only has none to go to, and nothing is told.
      return ThinkingLevel.parse(thinkingLevel ?? (await snapshot()).view.thinkingLevel)
    },
    async getAvailableModels() {
      const { models } = orThrow(await handle.models())
      return models.filter(({ unusable }) => unusable === null)
    },
    getProvider: async () => providerInUse(await snapshot()),
    async refreshCredentials(options) {
      await submit({ type: 'refreshCredentials' }, options)
      return credentialsConfigured()
    },
    credentialsConfigured,
  }
}

/** What every provider takes that says nothing else. */
const usualFiles: readonly string[] = ['image/*', 'application/pdf']

function providerInUse({ meta: { provider, model }, here }: FrameOf<'snapshot'>): ProviderInUse {
  const abilities = {
    contextTokens: here?.contextTokens ?? null,
    files: here?.takes ?? usualFiles,
    thinkingLevels: here?.thinkingLevels ?? ThinkingLevel.options,
  }
  return { provider, model, endpoint: here?.endpoint ?? null, abilities }
}
