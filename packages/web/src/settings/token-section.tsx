import { type CreatedToken, escapeLine, type Fault, type TokenRole } from '@holdfast/protocol'
import { type FormEvent, useState } from 'react'
import { attempt, useServer } from '../models/server-context.ts'
import { useComebacks } from '../screens/needs-server.tsx'
import { relativeTime } from '../text/format.ts'
import { FaultNote } from '../ui/elements.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { useNow } from '../ui/use-now.ts'
import { ChoiceRow, Section } from './section.tsx'

const roles: readonly TokenRole[] = ['viewer', 'driver', 'admin']

/** The tokens that let other programs and people in. */
export function TokenSection() {
  const { holdfast } = useServer()
  const nowMs = useNow()
  const [count, setCount] = useState(0)
  const [name, setName] = useState('')
  const [role, setRole] = useState<TokenRole>('viewer')
  const [created, setCreated] = useState<CreatedToken | null>(null)
  const [refused, setRefused] = useState<Fault | null>(null)
  const { value: tokens, fault } = useLoaded(
    () => attempt(() => holdfast.tokens.list()),
    [holdfast, count, useComebacks()],
  )
  const create = async (event: FormEvent) => {
    event.preventDefault()
    const made = await attempt(() => holdfast.tokens.create({ name: name.trim(), role }))
    setRefused(made.ok ? null : made.fault)
    if (!made.ok) return
    setCreated(made.value)
    setName('')
    setCount((before) => before + 1)
  }
  const revoke = async (id: string) => {
    const revoked = await attempt(() => holdfast.tokens.revoke(id))
    setRefused(revoked.ok ? null : revoked.fault)
    setCount((before) => before + 1)
  }
  return (
    <Section
      title="Tokens"
      text="A token lets a program or a person in. A viewer reads, a driver also writes, an admin may do all."
    >
      <FaultNote fault={refused ?? fault} />
      <ul className="settings-list" aria-label="Tokens">
        {tokens?.map((token) => (
          <li key={token.id}>
            <strong>{escapeLine(token.name)}</strong>
            <span className="settings-about">
              {token.role}
              {token.session !== null && ', one session'}
              {token.lastUsedAt === null ? ', never used' : `, used ${relativeTime(token.lastUsedAt, nowMs)} ago`}
            </span>
            <button type="button" aria-label={`Revoke ${escapeLine(token.name)}`} onClick={() => void revoke(token.id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {created !== null && (
        <label className="field">
          The token {escapeLine(created.name)}. Copy it now: it is not shown again.
          <input readOnly value={created.secret} onFocus={(event) => event.target.select()} />
        </label>
      )}
      <form className="settings-form" onSubmit={(event) => void create(event)}>
        <label className="field">
          Name
          <input value={name} onChange={(event) => setName(event.target.value)} maxLength={100} required />
        </label>
        <ChoiceRow label="Role" values={roles} value={role} onChange={setRole} />
        <button type="submit" disabled={name.trim() === ''}>
          Create a token
        </button>
      </form>
    </Section>
  )
}
