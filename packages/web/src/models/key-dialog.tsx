import { escapeLine, type Fault, type ListedProvider } from '@holdfast/protocol'
import { type FormEvent, useRef, useState } from 'react'
import { NeedsServer } from '../screens/needs-server.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/elements.tsx'
import { showToast } from '../ui/toast.tsx'
import { attempt, ownsServer, useServer, useServerFacts } from './server-context.ts'

type KeyDialogProps = {
  readonly provider: Pick<ListedProvider, 'provider' | 'title'>
  /** Called once the key is saved and the models are listed anew. */
  readonly onSaved?: () => void
  readonly onClose: () => void
}

/** Asks for the key of a provider. The server checks it with the provider and saves it; the page forgets it at once. */
export function KeyDialog({ provider: { provider, title }, onSaved, onClose }: KeyDialogProps) {
  const server = useServer()
  const { access } = useServerFacts()
  const [key, setKey] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const [isSaving, setSaving] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const name = escapeLine(title)
  const save = async (isUnchecked: boolean) => {
    setSaving(true)
    const saved = await attempt(() => server.holdfast.saveKey({ provider, key, ...(isUnchecked && { isUnchecked }) }))
    setFault(saved.ok ? null : saved.fault)
    if (saved.ok) {
      await server.load(true)
      const { isChecked, note } = saved.value
      showToast({
        text: [isChecked ? `${name} accepts the key.` : 'The key was saved unchecked.', note ?? []].flat().join(' '),
      })
      onSaved?.()
      onClose()
    }
    setSaving(false)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save(false)
  }
  return (
    <Dialog title={`Add a key for ${name}`} className="narrow" focus={field} onClose={onClose}>
      {ownsServer(access) === false ? (
        <div className="dialog-body">
          <p>Only an admin of this server can add a key. On the machine of the server:</p>
          <pre>holdfast auth login {escapeLine(provider)}</pre>
        </div>
      ) : (
        <form className="dialog-body" onSubmit={onSubmit}>
          <NeedsServer>
            <label className="field">
              Key
              <input
                ref={field}
                type="password"
                value={key}
                onChange={(event) => setKey(event.target.value)}
                autoComplete="off"
                spellCheck={false}
                required
              />
              <small>
                The server checks it with {name} and saves it where only its user can read it. It is never shown again.
              </small>
            </label>
            <FaultNote fault={fault} />
            <div className="menu-choices">
              <button type="submit" className="primary" disabled={isSaving || key.trim() === ''}>
                {isSaving ? 'Checking…' : 'Check and save'}
              </button>
              {fault?.code === 'unreachable' && (
                <button type="button" disabled={isSaving} onClick={() => save(true)}>
                  Save without a check
                </button>
              )}
            </div>
          </NeedsServer>
        </form>
      )}
    </Dialog>
  )
}
