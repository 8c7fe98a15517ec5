import { escapeLine, ok, type ToolList } from '@holdfast/protocol'
import { useState } from 'react'
import { KeyDialog } from '../models/key-dialog.tsx'
import { modelTitle } from '../models/model-text.ts'
import { attempt, ownsServer, useServer, useServerFacts } from '../models/server-context.ts'
import { counted } from '../text/format.ts'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { useLoaded } from '../ui/use-loaded.ts'

/** Says in three lines what is configured, and what to do next. */
export function FirstRun({ folder }: { readonly folder: string }) {
  const { models, access } = useServerFacts()
  const { holdfast } = useServer()
  const hasFolder = folder !== ''
  // The sandbox is the same for every folder: a person who types one does not ask again.
  const { value: tools } = useLoaded(
    async () => (hasFolder ? attempt(() => holdfast.tools({ workdir: folder })) : ok(null)),
    [holdfast, hasFolder],
  )
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
      <FolderStep folder={folder} sandbox={tools?.sandbox ?? null} />
      <li>
        <strong>Next</strong>
        <span>Choose a suggestion or write what to do. The agent asks before it changes anything.</span>
      </li>
    </ol>
  )
}

type FolderStepProps = {
  readonly folder: string
  /** Null until it is known, and where this login may not ask. */
  readonly sandbox: Pick<ToolList['sandbox'], 'about'> | null
}

/** Says which folder is used, and what the agent can reach: file tools never leave it, and commands depend on the sandbox. */
export const FolderStep = ({ folder, sandbox }: FolderStepProps) => (
  <li>
    <strong>Folder</strong>
    <span>
      {folder === '' ? 'Choose it below; the server has a default' : <code>{escapeLine(folder)}</code>}. File tools stay
      inside it.{sandbox && ` ${escapeLine(sandbox.about)}`}
    </span>
  </li>
)

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
