import { type ChildView, contentText, type QueueEntry, type Todo } from '@holdfast/protocol'
import { cutLine, line, type StyledLine, shownLine, span, styles } from '../term/lines.ts'

const queueRowsMax = 4

/** Returns the prompts that wait, oldest first. */
export function queueRows(queue: readonly QueueEntry[], width: number): readonly StyledLine[] {
  if (queue.length === 0) return []
  const rows = queue.slice(0, queueRowsMax).map((entry) => {
    const text = shownLine((entry.typed ?? contentText(entry.content)).replaceAll(/\s+/g, ' ').slice(0, 300))
    const mark = entry.queue === 'steering' ? '↳ steers: ' : '↳ then: '
    return cutLine([span(mark, styles.accent), span(text, styles.dim)], width)
  })
  const more = queue.length > queueRowsMax ? `, ${queue.length - queueRowsMax} more` : ''
  return [...rows, cutLine(line(`  Alt+Up takes them back${more}`, styles.dim), width)]
}

const todoMarks = { pending: ['☐', styles.none], in_progress: ['▸', styles.accent], done: ['☑', styles.dim] } as const

/** Returns the list of tasks; with `rowsMax`, those in work first. */
export function todoRows(todos: readonly Todo[], width: number, rowsMax = todos.length): readonly StyledLine[] {
  const open = todos.filter(({ status }) => status !== 'done')
  const shown = rowsMax < todos.length ? open.slice(0, rowsMax) : todos
  const rows = shown.map(({ status, description }) => {
    const [mark, style] = todoMarks[status]
    return cutLine([span(`${mark} `, style), span(shownLine(description), style)], width)
  })
  return shown.length === todos.length
    ? rows
    : [...rows, line(`  ${todos.length - open.length} of ${todos.length} tasks done`, styles.dim)]
}

/** Returns the subagents that work, one row each. */
export function childRows(children: readonly ChildView[], width: number): readonly StyledLine[] {
  return children
    .filter(({ status }) => status === 'running' || status === 'waiting')
    .map(({ handle, agent, task, status, tool, depth }) => {
      const does = status === 'waiting' ? 'waits for you' : tool === null ? 'works' : `runs ${shownLine(tool)}`
      const name: StyledLine = [
        span(`${'  '.repeat(depth - 1)}◆ ${handle}`, styles.special),
        span(` (${shownLine(agent)}) `, styles.dim),
      ]
      return cutLine([...name, span(does), span(`  ${shownLine(task)}`, styles.dim)], width)
    })
}
