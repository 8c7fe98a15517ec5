import { escapeLine, type Output, type SessionHandle } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { useSession } from '../state/session-context.ts'

type File = NonNullable<Output['fileParts']>[number]

/** Shows the pictures of a result or a prompt, and names its other files. */
export function FileParts({ files }: { readonly files: readonly File[] }) {
  const { handle } = useSession()
  return files.map((file) => (
    <figure key={file.blob} className="picture">
      {shownTypes.has(file.mediaType) && <Picture handle={handle} file={file} />}
      <figcaption>
        <a href={`/v1/sessions/${handle.id}/blobs/${file.blob}`} download={file.name ?? file.blob.slice(0, 8)}>
          {nameOf(file)}
        </a>
      </figcaption>
    </figure>
  ))
}

/** A browser draws these and runs nothing in them. */
const shownTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

const nameOf = ({ name, mediaType }: File): string => escapeLine(name ?? mediaType)

type PictureProps = { readonly handle: SessionHandle; readonly file: File }

/** Draws an image of the session. The server does not tell browsers the type of a blob, so the bytes are read here. */
function Picture({ handle, file }: PictureProps) {
  const [url, setUrl] = useState<string | null>(null)
  const [isFailed, setFailed] = useState(false)
  const { blob, mediaType } = file
  useEffect(() => {
    let made: string | null = null
    let isLeft = false
    const load = async () => {
      const bytes = await readAll(handle, blob)
      if (isLeft) return
      if (bytes === null) return setFailed(true)
      made = URL.createObjectURL(new Blob(bytes, { type: mediaType }))
      setUrl(made)
    }
    load()
    return () => {
      isLeft = true
      if (made !== null) URL.revokeObjectURL(made)
    }
  }, [handle, blob, mediaType])
  if (isFailed) return <p className="nothing">The picture cannot be read now.</p>
  return url === null ? <p className="nothing working">Loading</p> : <img src={url} alt={nameOf(file)} />
}

/** Reads a blob of the session; null if it cannot be read. */
async function readAll(handle: SessionHandle, blob: File['blob']): Promise<Uint8Array<ArrayBuffer>[] | null> {
  const opened = await handle.blob(blob)
  if (!opened.ok) return null
  const chunks: Uint8Array<ArrayBuffer>[] = []
  try {
    for await (const chunk of opened.value) chunks.push(new Uint8Array(chunk))
    return chunks
  } catch {
    return null // the connection broke
  }
}
