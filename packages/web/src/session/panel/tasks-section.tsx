import { escapeLine, type Todo } from '@holdfast/protocol'
import { PanelSection } from './panel-section.tsx'

const marks: Readonly<Record<Todo['status'], { readonly mark: string; readonly word: string }>> = {
  pending: { mark: '○', word: 'open' },
  in_progress: { mark: '◐', word: 'in progress' },
  done: { mark: '✓', word: 'done' },
}

/** Lists the agent's tasks. */
export function TasksSection({ todos }: { readonly todos: readonly Todo[] }) {
  const done = todos.filter(({ status }) => status === 'done').length
  return (
    <PanelSection title="Tasks" about={todos.length > 0 ? `${done} of ${todos.length} done` : undefined}>
      {todos.length === 0 && <p className="nothing">The agent has written no tasks.</p>}
      <ul className="tasks">
        {todos.map(({ id, description, status }) => (
          <li key={id} className={`task-${status}`}>
            <span className="task-mark" aria-hidden="true">
              {marks[status].mark}
            </span>
            <span className="task-text">{escapeLine(description)}</span>
            <span className="task-word">{marks[status].word}</span>
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}
