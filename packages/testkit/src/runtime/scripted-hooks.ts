import type { HookAnswer, HookMoment, Hooks, RanHook } from '@holdfast/core/ports'
import type { HookEvent } from '@holdfast/protocol'

/** What a scripted hook answers; what is absent is null. */
export type ScriptedHookAnswer = Partial<HookAnswer> & {
  /** What it prints. */
  readonly printed?: string
  /** Set if it could not decide. */
  readonly failed?: string
}

/** What hooks answer, by event. */
export type HookScript = {
  readonly [Event in HookEvent]?: (
    moment: Extract<HookMoment, { event: Event }>,
    signal: AbortSignal,
  ) => ScriptedHookAnswer | Promise<ScriptedHookAnswer>
}

const noAnswer: HookAnswer = { block: null, permission: null, args: null, result: null, context: null, stop: null }

/** Creates hooks that answer by a script, and remember what they were told. */
export function createScriptedHooks(script: HookScript): Hooks & { readonly moments: readonly HookMoment[] } {
  const moments: HookMoment[] = []
  return {
    moments,
    has: (event) => script[event] !== undefined,
    refresh: async () => undefined,
    async run(moment, _session, signal) {
      const hook = script[moment.event] as
        | ((of: HookMoment, signal: AbortSignal) => ScriptedHookAnswer | Promise<ScriptedHookAnswer>)
        | undefined // each gets its own moment
      if (hook === undefined) return null
      moments.push(moment)
      const { printed = '', failed, ...said } = await hook(moment, signal)
      const answer = { ...noAnswer, ...said }
      return { answer, runs: [toRun(moment.event, answer, printed, failed)] }
    },
  }
}

function toRun(event: HookEvent, answer: HookAnswer, printed: string, failed: string | undefined): RanHook {
  const { block, permission, args, result, context, stop } = answer
  const outcome = failed !== undefined ? 'failed' : block === null ? 'ok' : 'blocked'
  const reason = failed ?? block
  return {
    event,
    hook: 'scripted',
    source: 'program',
    outcome,
    durationMs: 1,
    printed,
    ...(reason !== null && { reason }),
    ...(permission !== null && { permission }),
    ...((args !== null || result !== null) && { changed: true as const }),
    ...(context !== null && { context }),
    ...(stop !== null && { stop }),
  }
}
