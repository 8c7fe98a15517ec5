import type { Fault } from '@holdfast/protocol'
import { type FormEvent, useId, useState } from 'react'
import { Choices, FaultNote } from '../../ui/elements.tsx'

type FolderFormProps = {
  /** The folders of other sessions. */
  readonly known: readonly string[]
  /** Returns why the folder was refused, or null. */
  readonly onGive: (workdir: string) => Promise<Fault | null>
}

/** Asks for the folder of a session that has none, as after some imports. The session takes no prompt before. */
export function FolderForm({ known, onGive }: FolderFormProps) {
  const [folder, setFolder] = useState('')
  const [isGiving, setGiving] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const [why, choices] = [useId(), useId()]
  const give = async (event: FormEvent) => {
    event.preventDefault()
    if (folder.trim() === '' || isGiving) return
    setGiving(true)
    setFault(await onGive(folder.trim()))
    setGiving(false)
  }
  return (
    <form className="folder-form" onSubmit={give}>
      <p id={why}>This session has no folder to work in. Choose one to go on: file tools stay inside it.</p>
      <div>
        <input
          aria-label="Folder"
          aria-describedby={why}
          placeholder="The full path of a folder"
          value={folder}
          autoCapitalize="off"
          spellCheck={false}
          list={choices}
          onChange={(event) => setFolder(event.target.value)}
        />
        <button type="submit" className="primary" disabled={folder.trim() === '' || isGiving}>
          Use this folder
        </button>
      </div>
      <Choices id={choices} values={known} />
      <FaultNote fault={fault} />
    </form>
  )
}
