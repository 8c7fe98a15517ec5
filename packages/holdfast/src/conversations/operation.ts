import type { ConversationMessage } from './message.ts'

/** What a program does to a conversation. Until the log has it, it waits; what waits is seen by whoever reads. */
export type Operation = {
  /** About how many characters it keeps in memory while it waits. */
  readonly chars: number
} & (
  | { readonly type: 'add'; readonly message: ConversationMessage }
  | { readonly type: 'set'; readonly messages: readonly ConversationMessage[] }
  | { readonly type: 'truncate'; readonly keepLast: number }
  | { readonly type: 'summary'; readonly summary: string }
)

/** What operations make of a history. */
export function applyTo(
  history: readonly ConversationMessage[],
  operations: readonly Operation[],
): readonly ConversationMessage[] {
  let now = [...history]
  for (const operation of operations) {
    if (operation.type === 'add') now.push(operation.message)
    if (operation.type === 'set') now = [...operation.messages]
    if (operation.type === 'truncate') now = operation.keepLast === 0 ? [] : now.slice(-operation.keepLast)
  }
  return now
}

/** The summary that operations leave. */
export const summaryAfter = (summary: string, operations: readonly Operation[]): string =>
  operations.reduce((now, operation) => (operation.type === 'summary' ? operation.summary : now), summary)
