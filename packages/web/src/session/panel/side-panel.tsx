import type { SessionView } from '@holdfast/protocol'
import { BoundariesSection } from './boundaries-section.tsx'
import { FilesSection } from './files-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { TasksSection } from './tasks-section.tsx'

type SidePanelProps = { readonly id: string; readonly view: SessionView; readonly workspace: string }

/** What the session has beside its transcript: tasks, changed files, edit boundaries and rules. */
export function SidePanel({ id, view, workspace }: SidePanelProps) {
  return (
    <aside id={id} className="side-panel" aria-label="Tasks, files and rules">
      <TasksSection todos={view.todos} />
      <FilesSection />
      <BoundariesSection boundaries={view.boundaries} />
      <RulesSection workspace={workspace} />
    </aside>
  )
}
