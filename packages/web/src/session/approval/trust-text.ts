import {
  type Decision,
  escapeLine,
  isTrustedExactly,
  type Preview,
  type Trust,
  type TrustScope,
} from '@holdfast/protocol'

export type Approval = Exclude<Decision, 'reject' | 'cancel'>

/** How far an approval may reach, narrowest first. */
export const approvals: readonly { readonly decision: Approval; readonly word: string }[] = [
  { decision: 'approve', word: 'Once' },
  { decision: 'approve_turn', word: 'This turn' },
  { decision: 'approve_session', word: 'This session' },
  { decision: 'approve_always', word: 'Always here' },
]

const reach: Record<Exclude<Approval, 'approve'>, string> = {
  approve_turn: 'until this turn ends',
  approve_session: 'for the rest of this session',
  approve_always: 'in every session of this folder',
}

/** For a subagent: its turns are its own, and the session is the whole tree. */
const childReach: typeof reach = {
  ...reach,
  approve_turn: 'until the turn of the subagent ends',
  approve_session: 'for the rest of this session, in it and in all its subagents',
}

/** Says exactly what an answer allows. */
export function approvalText(decision: Approval, tool: string, isChild = false): string {
  if (decision === 'approve') return 'Only this call. The next one asks again.'
  const what =
    tool === 'shell' ? 'This exact command' : isTrustedExactly(tool) ? 'This exact call' : `Every ${escapeLine(tool)}`
  return `${what} runs without asking ${(isChild ? childReach : reach)[decision]}.`
}

/** A longer command or arguments do not fit in a rule: then the answer grants trust. As `Permission.pattern`. */
const ruleCharsMax = 1000

/** Returns the rule that "Always here" stores; null if it stores none. */
export function ruleToStore(tool: string, preview: Preview): string | null {
  if (!isTrustedExactly(tool)) return `allow ${escapeLine(tool)}`
  const pattern =
    preview.type === 'command' ? preview.command : preview.type === 'arguments' ? JSON.stringify(preview.args) : ''
  return preview.blob || pattern.length > ruleCharsMax ? null : `allow ${escapeLine(tool)} ${escapeLine(pattern)}`
}

const scopeWords: Record<TrustScope, string> = { turn: 'this turn', session: 'this session', workspace: 'always here' }

/** Describes the trust in a tool: `one exact call this session`. */
const trustText = ({ scope, argsHash }: Trust): string =>
  `${argsHash === undefined ? 'every call' : 'one exact call'} ${scopeWords[scope]}`

/** Groups by tool, because trust is revoked by tool. */
export function trustByTool(trust: readonly Trust[]): readonly (readonly [tool: string, text: string])[] {
  const texts = new Map<string, Set<string>>()
  for (const one of trust) texts.set(one.tool, (texts.get(one.tool) ?? new Set()).add(trustText(one)))
  return [...texts].map(([tool, said]) => [tool, [...said].join(', ')])
}
