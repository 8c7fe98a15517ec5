import type { DenialCode, Mode } from '@holdfast/protocol'

/** What the policy may know of a call. */
export type CallFacts = {
  readonly tool: string
  readonly isDestructive: boolean
  readonly isReadOnly: boolean
}

export type Verdict =
  /** `rule` is recorded: nothing runs without saying who or what allowed it. */
  | { readonly type: 'allow'; readonly rule: string }
  | { readonly type: 'ask' }
  | { readonly type: 'deny'; readonly code: DenialCode; readonly message: string }

/** Plan mode refuses what changes anything; otherwise what changes something is asked for. */
export function judge(facts: CallFacts, mode: Mode): Verdict {
  if (mode === 'plan' && !facts.isReadOnly) {
    return {
      type: 'deny',
      code: 'plan_mode',
      message: `${facts.tool} is not available in plan mode; describe what you would do instead`,
    }
  }
  if (facts.isDestructive) return { type: 'ask' }
  return { type: 'allow', rule: 'not destructive' }
}
