import type { SessionView } from '@holdfast/protocol'
import type { KeyboardEvent } from 'react'
import { isField, isPopupOpen } from '../../keys/use-key.ts'
import type { BackgroundShells } from '../state/use-background-shells.ts'
import { BoundariesSection } from './boundaries-section.tsx'
import { FilesSection } from './files-section.tsx'
import { InstructionsSection } from './instructions-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { ServersSection } from './servers-section.tsx'
import { ShellsSection } from './shells-section.tsx'
import { SkillsSection } from './skills-section.tsx'
import { SubagentsSection } from './subagents-section.tsx'
import { TasksSection } from './tasks-section.tsx'
import { TrustSection } from './trust-section.tsx'

type SidePanelProps = {
  readonly id: string
  readonly view: SessionView
  readonly workspace: string
  readonly shells: BackgroundShells
  readonly onClose: () => void
}

/** What the session has beside its transcript, such as tasks, changed files, skills, servers, instructions and rules. */
export function SidePanel({ id, view, workspace, shells, onClose }: SidePanelProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented || isField(event.target) || isPopupOpen()) return
    // A dialog that a part of the panel drew is not inside its element.
    if (!(event.target instanceof Node && event.currentTarget.contains(event.target))) return
    event.preventDefault() // it closes the panel, and stops no turn
    onClose()
  }
  return (
    <aside id={id} className="side-panel" aria-label="Tasks, files and rules" onKeyDown={onKeyDown}>
      <button type="button" className="quiet icon-button panel-close" aria-label="Close the panel" onClick={onClose}>
        ×
      </button>
      <SubagentsSection />
      <ShellsSection shells={shells} />
      <TasksSection todos={view.todos} />
      <FilesSection />
      <TrustSection />
      <SkillsSection active={view.skills} />
      <ServersSection off={view.serversOff} />
      <BoundariesSection boundaries={view.boundaries} />
      <InstructionsSection workspace={workspace} />
      <RulesSection workspace={workspace} />
    </aside>
  )
}
