import type { SessionView } from '@holdfast/protocol'
import { useState } from 'react'
import { useKey } from '../keys/use-key.ts'
import { Menu, MenuChoices } from '../ui/menu.tsx'

export type PermissionChoice = SessionView['approvals'] | 'readOnly'

type Permission = { readonly value: PermissionChoice; readonly name: string; readonly text: string }

const permissions: readonly Permission[] = [
  { value: 'destructive', name: 'Asks before changes', text: 'It reads freely, and asks before it changes something.' },
  { value: 'all', name: 'Asks before every call', text: 'It asks even before it reads a file.' },
  { value: 'readOnly', name: 'Only reads', text: 'It has no tools that change something.' },
  { value: 'none', name: 'Never asks', text: 'It changes files and runs commands on its own. Your rules still apply.' },
]

type PermissionMenuProps = {
  readonly permission: PermissionChoice
  readonly onChoose: (permission: PermissionChoice) => void
  /** The session has begun: whether it only reads is decided at its start. */
  readonly hasBegun?: boolean
  readonly isOff?: boolean
  readonly side?: 'top' | 'bottom'
}

/** Chooses which calls ask. A session that never asks is marked. */
export function PermissionMenu({ permission, onChoose, hasBegun = false, isOff, side }: PermissionMenuProps) {
  const choices = permissions.filter(({ value }) => !hasBegun || value !== 'readOnly')
  const name = permissions.find(({ value }) => value === permission)?.name
  const isFixed = hasBegun && permission === 'readOnly'
  const [isOpen, setOpen] = useState(false)
  useKey('permissions', () => setOpen(true), !isFixed && isOff !== true)
  if (isFixed) return <span className="chip-word">{name}</span>
  return (
    <Menu
      label="Permissions"
      className="wide"
      isOpen={isOpen}
      onOpen={setOpen}
      {...(side && { side })}
      trigger={
        <button type="button" className={permission === 'none' ? 'chip never-asks' : 'chip'} disabled={isOff}>
          <span className="chip-text">{name}</span>
          <span aria-hidden="true">▾</span>
        </button>
      }
    >
      <MenuChoices
        label="Permissions"
        value={permission}
        choices={choices}
        onChoose={(value) => onChoose(choices.find((one) => one.value === value)?.value ?? permission)}
      />
    </Menu>
  )
}

/** Says what happens to calls that no rule covers. */
export function unruledText({ approvals, readOnly }: Pick<SessionView, 'approvals' | 'readOnly'>): string {
  if (readOnly) return 'No rule. This session has no tools that change something.'
  switch (approvals) {
    case 'all':
      return 'No rule: every call asks.'
    case 'none':
      return 'No rule: nothing asks. This session changes files and runs commands on its own.'
    case 'destructive':
      return 'No rule: calls that change something ask.'
  }
}
