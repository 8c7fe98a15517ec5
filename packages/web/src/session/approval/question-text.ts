import { escapeLine, type PendingApproval } from '@holdfast/protocol'

const questions: Record<PendingApproval['preview']['type'], string> = {
  command: 'Run this command?',
  diff: 'Make this change?',
  arguments: 'Allow this call?',
  question: 'Answer this question?',
}

type Asked = Pick<PendingApproval, 'tool' | 'preview'>

/** Returns the question of a card. */
export const questionOf = ({ preview }: Pick<Asked, 'preview'>): string => questions[preview.type]

/** Says in one line what is asked. */
export function askedSummary({ tool, preview }: Asked): string {
  switch (preview.type) {
    case 'command':
      return escapeLine(preview.command)
    case 'diff':
      return escapeLine(preview.path)
    case 'question':
      return escapeLine(preview.message)
    case 'arguments':
      return escapeLine(tool)
  }
}
