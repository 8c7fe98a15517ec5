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
  /** Null when it has none, or the session is not running. */
  readonly endpoint: string | null
  readonly abilities: {
    /** Context size; null when unknown. */
    readonly contextTokens: number | null
    /** File types it accepts besides text. */
    readonly files: readonly string[]
    /** Its thinking levels. */
    readonly thinkingLevels: readonly ThinkingLevel[]
  }
}

/** Methods for the model, its thinking level and its availability. */
export interface SessionModels {
  /** Applies from the next step on. */
  setModel(model: string, options?: SubmitOptions): Promise<Answer['result']>
  /** Switches to the next model of the rotation. Refused: no_rotation. */
  cycleModel(options?: CycleOptions): Promise<CycledModel>
  /** Refused: unknown_level, if the model does not have it. */
  setThinkingLevel(level: ThinkingLevel, options?: SubmitOptions): Promise<Answer['result']>
  /** Switches to the next level of the model. Returns the current level. */
  cycleThinkingLevel(options?: SubmitOptions): Promise<ThinkingLevel>
  /** Returns the models that can be called now. */
  getAvailableModels(): Promise<readonly ListedModel[]>
  /** Returns the provider, the model, its address and limits; never the key. */
  getProvider(): Promise<ProviderInUse>
  /** Looks for credentials again, for all sessions of the process. Returns whether this model can be called. Refused: storage_error. */
  refreshCredentials(options?: SubmitOptions): Promise<boolean | null>
  /** Whether the model can be called now; null when the session is not running. */
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
      // No result for a model with one level only.
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

/** The file types every provider accepts. */
const usualFiles: readonly string[] = ['image/*', 'application/pdf']

function providerInUse({ meta: { provider, model }, here }: FrameOf<'snapshot'>): ProviderInUse {
  const abilities = {
    contextTokens: here?.contextTokens ?? null,
    files: here?.takes ?? usualFiles,
    thinkingLevels: here?.thinkingLevels ?? ThinkingLevel.options,
  }
  return { provider, model, endpoint: here?.endpoint ?? null, abilities }
}
