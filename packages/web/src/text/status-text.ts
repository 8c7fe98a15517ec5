import type { Status } from '@holdfast/protocol'

const words: Record<Status, string> = {
  idle: 'Ready',
  plan: 'Ready, planning only',
  thinking: 'Thinking',
  tool_executing: 'Using tools',
  error: 'Failed',
  interrupted: 'Interrupted',
}

export const statusText = (status: Status): string => words[status]

/** Whether a turn is running. */
export const isBusy = (status: Status): boolean => status === 'thinking' || status === 'tool_executing'
