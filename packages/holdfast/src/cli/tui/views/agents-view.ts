import type { ChildView } from '@holdfast/protocol'
import { costText } from '../render/format.ts'
import { justify, line, type StyledLine, shownLine, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'

type AgentsDeps = {
  readonly children: () => readonly ChildView[]
  readonly onChoose: (child: ChildView) => void
  readonly host: ViewHost
}

/** Lists the subagents of the session. Enter shows the transcript of one. */
export function createAgentsView({ children, onChoose, host }: AgentsDeps): FullView {
  return createListView<ChildView>(
    {
      title: () => 'Subagents',
      items: children,
      row: (child, width) => agentRow(child, width),
      textOf: ({ handle, agent, task }) => `${handle} ${agent} ${task}`,
      preview: ({ task, model, tool }, width) => [
        ...wrapText(shownLine(task), width),
        line(`${shownLine(model)}${tool === null ? '' : `, runs ${shownLine(tool)}`}`, styles.dim),
      ],
      onChoose,
      hints: '↑↓ choose   Enter shows its transcript   Esc back',
      empty: 'The session has started no subagents.',
    },
    host,
  )
}

const agentRow = ({ handle, agent, status, depth, usage, background }: ChildView, width: number): StyledLine =>
  justify(
    [
      span('  '.repeat(depth - 1)),
      span(handle, styles.special),
      span(` (${shownLine(agent)}${background ? ', in the background' : ''})`, styles.dim),
    ],
    [
      span(status === 'waiting' ? 'waits for you' : status, status === 'waiting' ? styles.warn : styles.dim),
      span(`  ${costText(usage.cost)}`, styles.dim),
    ],
    width,
  )
