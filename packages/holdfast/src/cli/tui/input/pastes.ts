import type { ContentPart } from '@holdfast/protocol'

/** A longer paste stands in the input as a placeholder. */
const linesMax = 8
const charsMax = 800

type FilePart = Extract<ContentPart, { readonly type: 'file' }>

/** Keeps what placeholders such as `[pasted #1, 240 lines]` stand for. */
export interface Pastes {
  /** Returns the text to insert for a paste: itself, or a placeholder if it is long. */
  add(text: string): string
  /** Returns the placeholder of a stored file. */
  addFile(file: FilePart): string
  /** Returns the content of a prompt: its text with pastes in full, and its files. */
  toContent(text: string): readonly ContentPart[]
  /** Returns the text with pastes in full, as for an external editor. */
  expand(text: string): string
  /** Forgets what a sent text stood for. Once nothing is kept, the numbers begin again. */
  forget(text: string): void
}

export function createPastes(): Pastes {
  const texts = new Map<string, string>()
  const files = new Map<string, FilePart>()
  let count = 0
  const expand = (text: string) => {
    let whole = text
    for (const [placeholder, pasted] of texts) whole = whole.replaceAll(placeholder, () => pasted)
    return whole
  }
  return {
    add(text) {
      const lines = text.replace(/\n$/, '').split('\n').length
      if (lines <= linesMax && text.length <= charsMax) return text
      count++
      const placeholder = `[pasted #${count}, ${lines > 1 ? `${lines} lines` : `${text.length} characters`}]`
      texts.set(placeholder, text)
      return placeholder
    },
    addFile(file) {
      count++
      const kind = file.mediaType.startsWith('image/') ? 'image' : 'file'
      const placeholder = `[${kind} #${count}, ${(file.name ?? file.mediaType).replace(/[\]\n]/g, '')}]`
      files.set(placeholder, file)
      return placeholder
    },
    expand,
    forget(text) {
      for (const kept of [texts, files]) for (const name of [...kept.keys()]) if (text.includes(name)) kept.delete(name)
      if (texts.size + files.size === 0) count = 0
    },
    toContent(text) {
      const used = [...files].filter(([placeholder]) => text.includes(placeholder))
      let rest = text
      for (const [placeholder] of used) rest = rest.replaceAll(placeholder, '')
      const whole = used.length > 0 ? expand(rest).trim() : expand(rest)
      return [...(whole === '' ? [] : [{ type: 'text' as const, text: whole }]), ...used.map(([, file]) => file)]
    },
  }
}
