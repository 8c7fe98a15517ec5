import {
  type CommandOptions,
  type CommandResult,
  commandResult,
  type ListedModel,
  limits,
  orThrow,
  type ProcessView,
  type SessionView,
  type StateFields,
  type ThinkingLevel,
  type Usage,
} from '@holdfast/protocol'
import { readOptions } from './arguments.ts'
import type { Requests } from './requests.ts'

/** How `cycleModel` switches. */
export type CycleOptions = CommandOptions & {
  /** `next` when absent. */
  readonly direction?: 'next' | 'previous' | undefined
}

/** The provider of a session's model, with what is known of the model. */
export type ProviderInUse = {
  /** The name of the provider: the part of the model name before the slash. */
  readonly provider: string
  /** The name of the model, as `provider/model`. */
  readonly model: string
  /** Null when it has none, or the session is not running. */
  readonly endpoint: string | null
  /** What the model can do; null when unknown. */
  readonly abilities: {
    /** Context size; null when unknown. */
    readonly contextTokens: number | null
    /** File types it accepts besides text; null when unknown. */
    readonly files: readonly string[] | null
    /** Null when unknown. */
    readonly thinkingLevels: readonly ThinkingLevel[] | null
  }
}

/** The result of `refreshCredentials`. */
export type RefreshedCredentials = CommandResult<'refreshCredentials'> & {
  /** Whether the session's model can be called now; null when the session is not running. */
  readonly credentialsConfigured: boolean | null
}

/** Which sessions a usage covers. */
export type UsageOptions = {
  /** Includes all descendants. */
  readonly tree?: boolean | undefined
}

/** Methods for the model, its thinking level, its availability and its usage. An unknown price makes the cost null, never 0. */
export function createSessionModels({ handle, submit, submitWith, state }: Requests) {
  /** Whether the model can be called now; null when the session is not running. */
  const credentialsConfigured = async () => (await state('here')).here?.credentialsConfigured ?? null
  return {
    /** Changes the model of the session, from the next step on. Refused: unknown_model. */
    setModel: (model: string, options?: CommandOptions) => submit({ type: 'setModel', model }, options),
    /** Switches to the next model of the rotation. Refused: no_rotation. */
    cycleModel: (options?: CycleOptions) => submitWith({ type: 'cycleModel' }, options, ['direction']),
    /** Sets how long the model thinks. Refused: unknown_level, if the model does not have it. */
    setThinkingLevel: (level: ThinkingLevel, options?: CommandOptions) =>
      submit({ type: 'setThinkingLevel', level }, options, { thinkingLevel: level }),
    /** Switches to the next level of the model. Returns the current level. */
    async cycleThinkingLevel(options?: CommandOptions): Promise<CommandResult<'cycleThinkingLevel'>> {
      const answer = orThrow(await handle.submit({ type: 'cycleThinkingLevel' }, options))
      // A model with one level only keeps it, and the answer is empty.
      const unchanged = 'thinkingLevel' in answer.result ? {} : await state('thinkingLevel')
      return commandResult('cycleThinkingLevel', answer, unchanged)
    },
    /** Returns the models that can be called now. */
    async getAvailableModels(): Promise<readonly ListedModel[]> {
      const { models } = orThrow(await handle.models())
      return models.filter(({ unusable }) => unusable === null)
    },
    /** Returns the provider, the model, its address and limits; never the key. */
    getProvider: async () => providerInUse(await state('meta', 'here')),
    /** Looks for credentials again, for all sessions of the process. Returns whether this model can be called. Refused: storage_error. */
    async refreshCredentials(options?: CommandOptions): Promise<RefreshedCredentials> {
      const { seq } = await submit({ type: 'refreshCredentials' }, options)
      return { seq, credentialsConfigured: await credentialsConfigured() }
    },
    /** Returns whether the model can be called; null when the session is not running. */
    credentialsConfigured,
    /** Returns the usage of the session, with `tree` including all descendants. */
    async usage(options?: UsageOptions): Promise<Usage> {
      const { tree = false } = readOptions(options, ['tree'])
      return tree ? orThrow(await handle.treeUsage()).usage : (await state('meta')).meta.usage
    },
    /** Returns the usage of the current or last turn; null when unknown. */
    turnUsage: async () => (await state('turnUsage')).turnUsage,
    /** Returns how full the model's context is. */
    async contextUsage(): Promise<ContextUsage> {
      const { tokens, isEstimate, here } = await state('tokens', 'isEstimate', 'here')
      return contextUsageOf({ view: { tokens, isEstimate }, here })
    },
  }
}

function providerInUse({ meta: { provider, model }, here }: Pick<StateFields, 'meta' | 'here'>): ProviderInUse {
  const abilities = {
    contextTokens: here?.contextTokens ?? null,
    files: here?.takes ?? null,
    thinkingLevels: here?.thinkingLevels ?? null,
  }
  return { provider, model, endpoint: here?.endpoint ?? null, abilities }
}

/** Usage of the model's context. */
export type ContextUsage = {
  /** Size of the context the model would get now. */
  readonly tokens: number
  /** Limit of the model; null when unknown. */
  readonly contextTokens: number | null
  /** `tokens` divided by the limit, or by the assumed limit. */
  readonly share: number
  /** Whether `tokens` is at least partly estimated. */
  readonly isEstimate: boolean
}

/** Computes the context usage from a snapshot. */
export function contextUsageOf({
  view,
  here,
}: {
  readonly view: Pick<SessionView, 'tokens' | 'isEstimate'>
  readonly here: ProcessView | null
}): ContextUsage {
  const { tokens, isEstimate } = view
  const contextTokens = here?.contextTokens ?? null
  return { tokens, contextTokens, share: tokens / (contextTokens ?? limits.contextTokens), isEstimate }
}
