import { escapeLine } from '@holdfast/protocol'
import { useState } from 'react'
import { bytesText } from '../text/format.ts'
import type { DraftFile, DraftFiles } from './use-draft-files.ts'

/** The files beside the text, with a preview, how far each is sent, and a way to take it out. */
export function FileTray({ draftFiles }: { readonly draftFiles: DraftFiles }) {
  const { files, remove } = draftFiles
  if (files.length === 0) return null
  return (
    <ul className="draft-files" aria-label="Attached files">
      {files.map((file) => (
        <li key={file.id} className={`draft-file ${file.state.at}`}>
          <FilePreview file={file} />
          <span className="draft-file-name" title={file.name}>
            {file.name}
          </span>
          <FileState file={file} />
          <button
            type="button"
            className="quiet icon-button"
            aria-label={`Remove ${file.name}`}
            onClick={() => remove([file.id])}
          >
            <span aria-hidden="true">✕</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Shows an image, or the kind of a file: also of one that is called an image and is none. */
function FilePreview({ file: { preview, name } }: { readonly file: DraftFile }) {
  const [isBroken, setBroken] = useState(false)
  if (preview !== null && !isBroken) return <img src={preview} alt="" onError={() => setBroken(true)} />
  return (
    <span className="draft-file-kind" aria-hidden="true">
      {kindOf(name)}
    </span>
  )
}

function FileState({ file: { state, bytes, name } }: { readonly file: DraftFile }) {
  switch (state.at) {
    case 'sending':
      return <progress aria-label={`Sending ${name}`} max={1} value={state.share} />
    case 'stored':
      return (
        <span className="draft-file-about">
          {state.changed === null ? bytesText(bytes) : escapeLine(state.changed)}
        </span>
      )
    case 'failed':
      return (
        <span className="bad" role="alert">
          {escapeLine(state.fault.message)}
        </span>
      )
  }
}

/** The ending of a name, such as `pdf`. */
const kindOf = (name: string): string => /\.([A-Za-z0-9]{1,4})$/.exec(name)?.[1]?.toLowerCase() ?? 'file'
