import { type BlobHash, type DenialCode, findTrust, type Mode, type Settings, type Trust } from '@holdfast/protocol'
import type { Ruling } from '../ports/permissions.ts'

/** What the policy can see of a call. */
export type CallFacts = {
  /** The name of the tool. */
  readonly tool: string
  /** Whether the call may change something. */
  readonly isDestructive: boolean
  /** Whether the call only reads. */
  readonly isReadOnly: boolean
  /** The hash of its arguments. */
  readonly argsHash: BlobHash
  /** Why a person is asked each time; absent for most calls. */
  readonly alwaysAsk?: string | undefined
  /** What hooks said about its approval; absent if they said nothing. */
  readonly hooks?: { readonly verdict: 'allow' | 'ask'; readonly by: string } | undefined
  /** What the permission rules say; null when none applies. */
  readonly ruling: Ruling | null
  /** Trust for the session at the top of the tree, if the call is one of a subagent. */
  readonly rootTrust?: readonly Trust[] | undefined
  /** Trust granted for the workspace, by any of its sessions. */
  readonly workspaceTrust: readonly Trust[]
}

/** The rules that apply to a session now. */
export type Policy = {
  readonly settings: Pick<Settings, 'mode' | 'approvals'>
  readonly trust: readonly Trust[]
}

export type Verdict =
  /** `rule` is recorded, so that the log says what allowed each call. */
  | { readonly type: 'allow'; readonly rule: string }
  /** `reason` says why neither rules nor trust can answer; `rule` names the rule that wants a person to be asked. */
  | { readonly type: 'ask'; readonly reason?: string; readonly rule?: string }
  | { readonly type: 'deny'; readonly code: DenialCode; readonly message: string }

/**
 * Judges a call. Plan mode denies first; then the permission rules decide; then the session's approval setting. What is
 * left to ask is answered by trust, or by a person. Only a person can allow a call that is always asked about. What a hook
 * allows is allowed only where no rule says otherwise.
 */
export function judge(facts: CallFacts, { settings, trust }: Policy): Verdict {
  if (isForbidden(facts, settings.mode)) return planMode(facts.tool)
  const { ruling, tool } = facts
  if (ruling?.verdict === 'deny')
    return { type: 'deny', code: 'rule', message: `${ruling.by} forbids this ${tool} call` }
  const hooked = facts.hooks?.verdict === 'ask' ? `the hook ${facts.hooks.by} asks` : undefined
  const reason = facts.alwaysAsk ?? (ruling?.verdict === 'unknown' ? ruling.reason : hooked)
  if (reason !== undefined) return { type: 'ask', reason }
  if (ruling?.verdict === 'allow') return { type: 'allow', rule: ruling.by }
  if (ruling === null) {
    if (facts.hooks?.verdict === 'allow') return { type: 'allow', rule: `the hook ${facts.hooks.by}` }
    const rule = settings.approvals ?? 'destructive'
    if (rule === 'none') return { type: 'allow', rule: 'approvals: none' }
    if (rule === 'destructive' && !facts.isDestructive) return { type: 'allow', rule: 'not destructive' }
  }
  // Workspace trust is read from the workspace only: another session may have revoked it.
  const above = (facts.rootTrust ?? []).filter(({ scope }) => scope === 'session')
  const own = [...trust.filter(({ scope }) => scope !== 'workspace'), ...above]
  const trusted = findTrust([...facts.workspaceTrust, ...own], facts.tool, facts.argsHash)
  if (trusted) return { type: 'allow', rule: `trust: ${trusted.scope}` }
  const setting = settings.approvals === 'all' ? 'approvals: all' : undefined
  const asks = ruling?.verdict === 'ask' ? ruling.by : setting
  return { type: 'ask', ...(asks !== undefined && { rule: asks }) }
}

const isForbidden = ({ isReadOnly }: CallFacts, mode: Mode) => mode === 'plan' && !isReadOnly

const planMode = (tool: string): Verdict => ({
  type: 'deny',
  code: 'plan_mode',
  message: `${tool} is not available in plan mode; describe what you would do instead`,
})
