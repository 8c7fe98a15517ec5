import { type BlobHash, type DenialCode, findTrust, type Mode, type Settings, type Trust } from '@holdfast/protocol'
import { permitted, type Target } from './permission.ts'

/** What the policy may know of a call. */
export type CallFacts = Target & {
  readonly isDestructive: boolean
  readonly isReadOnly: boolean
  readonly argsHash: BlobHash
  /** What the workspace trusts, over all its sessions. */
  readonly workspaceTrust: readonly Trust[]
}

/** The rules that hold for a session now. */
export type Policy = {
  readonly settings: Pick<Settings, 'mode' | 'approvals' | 'permissions'>
  readonly trust: readonly Trust[]
}

export type Verdict =
  /** `rule` is recorded: nothing runs without saying who or what allowed it. */
  | { readonly type: 'allow'; readonly rule: string }
  | { readonly type: 'ask' }
  | { readonly type: 'deny'; readonly code: DenialCode; readonly message: string }

/**
 * The verdict on a call: plan mode refuses; then the permission rules; then, where none spoke, the session's rule.
 * A question is answered by trust where there is any, else by a person.
 */
export function judge(facts: CallFacts, { settings, trust }: Policy): Verdict {
  if (isForbidden(facts, settings.mode)) return planMode(facts.tool)
  const said = permitted(settings.permissions ?? [], facts)
  if (said === 'deny') return { type: 'deny', code: 'rule', message: `a rule forbids ${facts.tool} here` }
  if (said === 'allow') return { type: 'allow', rule: 'permission' }
  if (said === null) {
    const rule = settings.approvals ?? 'destructive'
    if (rule === 'none') return { type: 'allow', rule: 'approvals: none' }
    if (rule === 'destructive' && !facts.isDestructive) return { type: 'allow', rule: 'not destructive' }
  }
  // The workspace's word is the workspace's alone: another session may have taken back what was granted in this one.
  const own = trust.filter(({ scope }) => scope !== 'workspace')
  const trusted = findTrust([...facts.workspaceTrust, ...own], facts.tool, facts.argsHash)
  return trusted ? { type: 'allow', rule: `trust: ${trusted.scope}` } : { type: 'ask' }
}

const isForbidden = ({ isReadOnly }: CallFacts, mode: Mode) => mode === 'plan' && !isReadOnly

const planMode = (tool: string): Verdict => ({
  type: 'deny',
  code: 'plan_mode',
  message: `${tool} is not available in plan mode; describe what you would do instead`,
})
