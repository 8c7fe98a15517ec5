type Field = {
  readonly text: string | null
  readonly list: readonly string[] | null
  /** The value as it is written in the file. */
  readonly source: string
}

const yes = new Set(['true', 'yes', 'on', '1'])
const no = new Set(['false', 'no', 'off', '0'])

/** The fields of front matter. A value of the wrong kind counts as missing, because other programs have written it. */
export class Fields {
  readonly #fields = new Map<string, Field>()

  set(name: string, field: Field): void {
    this.#fields.set(name, field)
  }

  has(name: string): boolean {
    return this.#fields.has(name)
  }

  /** Returns a text without the space around it; null if it is missing or empty. */
  text(name: string): string | null {
    return this.#fields.get(name)?.text?.trim() || null
  }

  /** Returns the value as it is written, for a field that is shown and never used: `[topic: x]`. */
  source(name: string): string | null {
    return this.text(name) ?? (this.#fields.get(name)?.source || null)
  }

  /** Returns a list, which may also be written as one text with commas; with `spaces`, also with spaces. */
  list(name: string, { spaces = false }: { readonly spaces?: boolean } = {}): readonly string[] | null {
    const field = this.#fields.get(name)
    if (field === undefined) return null
    const items = field.list ?? splitOutsideBrackets(field.text ?? '', spaces)
    return items.map((item) => item.trim()).filter((item) => item !== '')
  }

  /** Returns a yes or no; null if it is missing or neither. */
  flag(name: string): boolean | null {
    const word = this.#fields.get(name)?.text?.trim().toLowerCase() ?? ''
    return yes.has(word) ? true : no.has(word) ? false : null
  }
}

/** Splits at commas, but not inside brackets: `Bash(git add, git commit), Read` has two items. */
function splitOutsideBrackets(text: string, spaces: boolean): readonly string[] {
  const items: string[] = ['']
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    else if (char === ')') depth = Math.max(0, depth - 1)
    if (depth === 0 && (char === ',' || (spaces && /\s/.test(char)))) items.push('')
    else items[items.length - 1] += char
  }
  return items
}
