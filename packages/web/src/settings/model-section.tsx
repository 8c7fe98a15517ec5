import { escapeLine, type Fault, type ListedProvider } from '@holdfast/protocol'
import { useState } from 'react'
import { KeyDialog } from '../models/key-dialog.tsx'
import { ModelPicker } from '../models/model-picker.tsx'
import { attempt, useServer, useServerFacts } from '../models/server-context.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/elements.tsx'
import { showToast } from '../ui/toast.tsx'
import { Section } from './section.tsx'

/** The default model, and the keys of providers. */
export function ModelSection({ isAdmin }: { readonly isAdmin: boolean }) {
  const server = useServer()
  const { models, fault: unread } = useServerFacts()
  const [fault, setFault] = useState<Fault | null>(null)
  const isLost = useIsLost()
  const chosen = models?.models.find(({ isDefault }) => isDefault)?.model ?? null
  const choose = async (model: string) => {
    const set = await attempt(() => server.holdfast.setDefaultModel(model))
    setFault(set.ok ? null : set.fault)
    if (!set.ok) return
    await server.load(true)
    showToast({ text: `New sessions use ${escapeLine(model)}.` })
  }
  return (
    <Section title="Models and keys" text="A key stays on the server. The page never shows it.">
      <FaultNote fault={fault ?? unread} />
      <div className="switch-row">
        <span>Default model of new sessions</span>
        <ModelPicker model={chosen} onChoose={(model) => void choose(model)} isOff={!isAdmin || isLost} />
      </div>
      <ul className="settings-list" aria-label="Providers">
        {models?.providers.map((provider) => (
          <ProviderRow key={provider.provider} provider={provider} isAdmin={isAdmin} onFault={setFault} />
        ))}
      </ul>
    </Section>
  )
}

type ProviderRowProps = {
  readonly provider: ListedProvider
  readonly isAdmin: boolean
  readonly onFault: (fault: Fault | null) => void
}

function ProviderRow({ provider, isAdmin, onFault }: ProviderRowProps) {
  const server = useServer()
  const isLost = useIsLost()
  const [asked, setAsked] = useState<'add' | 'remove' | null>(null)
  const title = escapeLine(provider.title)
  const close = () => setAsked(null)
  const remove = async () => {
    const removed = await attempt(() => server.holdfast.removeKey(provider.provider))
    onFault(removed.ok ? null : removed.fault)
    if (removed.ok) await server.load(true)
  }
  return (
    <li>
      <strong>{title}</strong>
      <span className="settings-about">{stateOf(provider)}</span>
      {isAdmin && provider.needsKey && (
        <button type="button" aria-label={`Add a key for ${title}`} onClick={() => setAsked('add')}>
          Add a key
        </button>
      )}
      {isAdmin && !provider.needsKey && provider.keyFrom?.type === 'file' && (
        <button type="button" aria-label={`Change key of ${title}`} onClick={() => setAsked('add')}>
          Change key
        </button>
      )}
      {isAdmin && provider.keyFrom?.type === 'file' && (
        <button type="button" aria-label={`Remove the key of ${title}`} onClick={() => setAsked('remove')}>
          Remove
        </button>
      )}
      {asked === 'add' && <KeyDialog provider={provider} onClose={close} />}
      {asked === 'remove' && (
        <ConfirmDialog
          title={`Remove the key of ${title}?`}
          confirm="Remove"
          isDanger
          isOff={isLost}
          onConfirm={() => void remove()}
          onClose={close}
        >
          Its models cannot be called any more. The key itself stays valid until you revoke it at {title}.
        </ConfirmDialog>
      )}
    </li>
  )
}

function stateOf({ keyFrom, needsKey, unusable }: ListedProvider): string {
  if (needsKey) return 'needs a key'
  if (unusable !== null) return escapeLine(unusable)
  if (keyFrom === null) return 'ready, needs no key'
  return keyFrom.type === 'file' ? 'ready, with a stored key' : `ready, with the key of ${escapeLine(keyFrom.name)}`
}
