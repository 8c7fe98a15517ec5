import { escapeLine, type Fault, listCoverageText } from '@holdfast/protocol'
import { useState } from 'react'
import { attempt, useServer } from '../models/server-context.ts'
import { useComebacks } from '../screens/needs-server.tsx'
import { FaultNote } from '../ui/elements.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { Section } from './section.tsx'

const words = { allow: 'runs without asking', ask: 'asks', deny: 'is refused' } as const

/** The rules that decide what runs without asking, in all sessions. */
export function PermissionSection() {
  const { holdfast } = useServer()
  const [count, setCount] = useState(0)
  const [refused, setRefused] = useState<Fault | null>(null)
  const { value: rules, fault } = useLoaded(
    () => attempt(() => holdfast.permissions()),
    [holdfast, count, useComebacks()],
  )
  const uncovered = listCoverageText(rules ?? [])
  const remove = async (id: string) => {
    const removed = await attempt(() => holdfast.removePermission(id))
    setRefused(removed.ok ? null : removed.fault)
    setCount((before) => before + 1)
  }
  return (
    <Section title="Permissions" text="Rules for all sessions. The panel of a session adds rules.">
      <FaultNote fault={refused ?? fault} />
      {rules?.length === 0 && <p className="settings-note">No rule yet: calls that change something ask.</p>}
      <ul className="settings-list" aria-label="Permission rules">
        {rules?.map(({ id, tool, pattern, verdict, workspace }) => {
          const name = [tool, pattern ?? []].flat().map(escapeLine).join(' ')
          return (
            <li key={id}>
              <code>{name}</code>
              <span className="settings-about">
                {words[verdict]}
                {workspace !== undefined && ` in ${escapeLine(workspace)}`}
              </span>
              <button type="button" aria-label={`Remove the rule for ${name}`} onClick={() => void remove(id)}>
                Remove
              </button>
            </li>
          )
        })}
      </ul>
      {uncovered !== null && <p className="settings-note">{uncovered}</p>}
    </Section>
  )
}
