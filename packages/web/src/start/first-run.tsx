import { escapeLine } from '@holdfast/protocol'
import { useState } from 'react'
import { KeyDialog } from '../models/key-dialog.tsx'
import { modelTitle } from '../models/model-text.ts'
import { ownsServer, useServerFacts } from '../models/server-context.ts'
import { counted } from '../text/format.ts'
import { Menu, MenuItem } from '../ui/menu.tsx'

/** Says in three lines what is configured, and what to do next. */
export function FirstRun({ folder }: { readonly folder: string }) {
  const { models, access } = useServerFacts()
  if (models === null) return null
  const ready = models.providers.filter(({ provider, unusable }) => unusable === null && provider !== 'demo')
  const model = models.models.find(({ isDefault }) => isDefault)
  const isDemo = model?.model === 'demo/agent'
  return (
    <ol className="first-run" aria-label="First steps">
      <li>
        <strong>Model</strong>
        <span>
          {model ? `${modelTitle(model)} is used by default.` : 'There is no default model.'}{' '}
          {isDemo
            ? 'It needs no key, but is a script that follows simple requests.'
            : `${counted(ready.length, 'provider')} can be used.`}
        </span>
        {ownsServer(access) && <AddKeyMenu />}
      </li>
      <li>
        <strong>Folder</strong>
        <span>
          {folder === '' ? 'Choose it below; the server has a default' : <code>{escapeLine(folder)}</code>}. The agent
          stays inside it.
        </span>
      </li>
      <li>
        <strong>Next</strong>
        <span>Choose a suggestion or write what to do. The agent asks before it changes anything.</span>
      </li>
    </ol>
  )
}

/** Adds the key of a provider that has none. */
function AddKeyMenu() {
  const { models } = useServerFacts()
  const [chosen, setChosen] = useState<{ readonly provider: string; readonly title: string } | null>(null)
  const lacking = models?.providers.filter(({ needsKey }) => needsKey) ?? []
  if (lacking.length === 0) return null
  return (
    <>
      <Menu
        label="Add a key"
        align="end"
        trigger={
          <button type="button" className="chip">
            Add a key<span aria-hidden="true">▾</span>
          </button>
        }
      >
        {lacking.map((one) => (
          <MenuItem key={one.provider} name={escapeLine(one.title)} onChoose={() => setChosen(one)} />
        ))}
      </Menu>
      {chosen !== null && <KeyDialog provider={chosen} onClose={() => setChosen(null)} />}
    </>
  )
}
