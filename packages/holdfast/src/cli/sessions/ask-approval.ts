import { type Decision, isTrustedExactly, type PendingApproval } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { shownWidth, wrapParts } from '../render/wrap-words.ts'
import { type AskDeps, askKey, askLine } from '../terminal/prompt-user.ts'

/** What a person answered to an approval. */
export type ApprovalReply = { readonly decision: Decision; readonly message?: string }

type Choice = { readonly decision: Decision; readonly label: string; readonly answer: string }

const choices: Readonly<Record<string, Choice>> = {
  y: { decision: 'approve', label: 'once', answer: 'Approved once.' },
  t: { decision: 'approve_turn', label: 'this turn', answer: 'Approved for this turn.' },
  s: { decision: 'approve_session', label: 'this session', answer: 'Approved for this session.' },
  a: { decision: 'approve_always', label: 'always here', answer: 'Approved for every session of this folder.' },
  n: { decision: 'reject', label: 'no', answer: 'Rejected.' },
}

/** Says what the answers for longer than once cover. */
export const trustedText = (tool: string): string => {
  const what =
    tool === 'shell'
      ? 'this exact command'
      : isTrustedExactly(tool)
        ? 'this exact call'
        : `every call of ${escapeLine(tool)}`
  return `t, s and a allow ${what}.`
}

/** Returns the question with its answers, whose key and label stay together in a narrow terminal. */
function approvalQuestion([first = '', ...others]: readonly string[], columns: number): string {
  const parts = [`Approve? ${first}`, ...others]
  const ends = parts.map((part, index) => (index === parts.length - 1 ? `${part}: ` : part))
  return wrapParts(ends, '  ', columns - indent.length)
    .map((line) => indent + line)
    .join('\n')
}

const indent = '  '

/** Asks for an approval by one key. Returns null if it was answered elsewhere or the turn is interrupted. */
export async function askApproval(
  { tool, reason: why }: Pick<PendingApproval, 'tool' | 'reason'>,
  deps: AskDeps,
): Promise<ApprovalReply | null> {
  const { err } = deps
  const isAskedEachTime = why !== undefined
  if (!isAskedEachTime) await err.write(`${err.paint.dim(err.wrap(`  ${trustedText(tool)}`))}\n`)
  const offered = Object.entries(choices).filter(([key]) => !isAskedEachTime || key === 'y' || key === 'n')
  const labels = offered.map(([key, { label }]) => `${err.paint.bold(key)} ${label}`)
  const columns = err.columns ?? Number.POSITIVE_INFINITY
  const question = approvalQuestion(labels, columns)
  const key = await askKey(question, new Set(offered.map(([one]) => one)), deps)
  const choice = key === null ? undefined : choices[key]
  if (!choice) return null
  const used = shownWidth(question.slice(question.lastIndexOf('\n') + 1))
  await err.write(`${used + choice.answer.length > columns ? `\n${indent}` : ''}${choice.answer}\n`)
  if (choice.decision !== 'reject') return { decision: choice.decision }
  const reason = await askLine('  Reason for the model (Enter for none): ', deps)
  if (reason === null) return null
  return { decision: 'reject', ...(reason.trim() !== '' && { message: reason.trim() }) }
}
