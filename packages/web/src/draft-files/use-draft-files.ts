import { type ContentPart, escapeLine, type Fault, FilePart } from '@holdfast/protocol'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type Upload, uploadFile } from './upload.ts'

/** A file of a prompt that the server has stored. */
export type StoredFile = Extract<ContentPart, { readonly type: 'file' }>

/** A file beside the text that is being written. */
export type DraftFile = {
  readonly id: number
  readonly name: string
  readonly bytes: number
  /** The address of a preview; null if it is no image, or was attached before a reload. */
  readonly preview: string | null
  readonly state:
    | { readonly at: 'sending'; readonly share: number }
    | { readonly at: 'stored'; readonly part: StoredFile; readonly changed: string | null }
    | { readonly at: 'failed'; readonly fault: Fault }
}

const keyOf = (draft: string) => `holdfast.draft-files.${draft}`
let lastId = 0

/** Reads the files that were stored before a reload of this tab. */
function readKept(draft: string): readonly DraftFile[] {
  const parsed = FilePart.array().safeParse(JSON.parse(sessionStorage.getItem(keyOf(draft)) ?? '[]'))
  return (parsed.success ? parsed.data : []).map(ofPart)
}

const ofPart = (part: StoredFile): DraftFile => ({
  id: ++lastId,
  name: part.name ?? 'file',
  bytes: part.bytes,
  preview: null,
  state: { at: 'stored', part, changed: null },
})

export type DraftFiles = ReturnType<typeof useDraftFiles>

/** The files of a draft. Each is sent to the server at once, so that the prompt itself is small and quick. */
export function useDraftFiles(draft: string) {
  const [files, setFiles] = useState(() => readKept(draft))
  const known = useRef(files)
  const uploads = useRef(new Map<number, Upload>())

  const same = useMemo(() => {
    const change = (next: readonly DraftFile[]) => {
      known.current = next
      setFiles(next)
      const kept = next.flatMap(({ state }) => (state.at === 'stored' ? [state.part] : []))
      if (kept.length === 0) sessionStorage.removeItem(keyOf(draft))
      else sessionStorage.setItem(keyOf(draft), JSON.stringify(kept))
    }
    const put = (id: number, state: DraftFile['state']) =>
      change(known.current.map((file) => (file.id === id ? { ...file, state } : file)))
    const remove = (ids: readonly number[]) => {
      for (const file of known.current.filter(({ id }) => ids.includes(id))) {
        uploads.current.get(file.id)?.stop()
        if (file.preview !== null) URL.revokeObjectURL(file.preview)
      }
      change(known.current.filter(({ id }) => !ids.includes(id)))
    }
    const add = (given: Iterable<File>) => {
      for (const file of given) {
        const id = ++lastId
        const preview = /^image\/(png|jpeg|gif|webp)$/.test(file.type) ? URL.createObjectURL(file) : null
        const entry = { id, name: escapeLine(file.name) || 'file', bytes: file.size, preview }
        change([...known.current, { ...entry, state: { at: 'sending', share: 0 } }])
        const upload = uploadFile(file, (share) => put(id, { at: 'sending', share }))
        uploads.current.set(id, upload)
        void upload.done.then((answer) => {
          uploads.current.delete(id)
          if (!answer.ok) return put(id, { at: 'failed', fault: answer.fault })
          put(id, { at: 'stored', part: answer.value.file, changed: answer.value.changed ?? null })
        })
      }
    }
    /** Takes files that are stored already, such as those of a recalled prompt. */
    const keep = (parts: readonly StoredFile[]) => change([...known.current, ...parts.map(ofPart)])
    /** The files that a prompt can name now. */
    const stored = () =>
      known.current.flatMap(({ id, state }) => (state.at === 'stored' ? [{ id, part: state.part }] : []))
    return { add, keep, remove, stored, isSending: () => known.current.some(({ state }) => state.at === 'sending') }
  }, [draft])

  useEffect(() => {
    const running = uploads.current
    return () => {
      for (const upload of running.values()) upload.stop()
      for (const { preview } of known.current) if (preview !== null) URL.revokeObjectURL(preview)
    }
  }, [])
  return { files, ...same }
}
