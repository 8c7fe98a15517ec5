/** A run of text within a block. */
export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'struck'; readonly inner: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly inner: readonly Inline[] }
  /** A picture on the web, or one of the few kinds that a text can hold as data. */
  | { readonly type: 'image'; readonly href: string; readonly text: string }
  | { readonly type: 'math'; readonly tex: string; readonly isDisplay: boolean }
  /** Refers to the note with this number. */
  | { readonly type: 'footnote'; readonly number: number }

/** A block of text. Holds no HTML, and only http and https links. */
export type Block =
  | { readonly type: 'paragraph'; readonly inner: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly inner: readonly Inline[] }
  | {
      readonly type: 'code'
      readonly language: string
      readonly text: string
      /** The closing fence is missing: more may follow. */
      readonly isOpen: boolean
    }
  | { readonly type: 'list'; readonly start: number | null; readonly items: readonly Item[] }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly type: 'math'; readonly tex: string }
  | { readonly type: 'footnotes'; readonly notes: readonly Footnote[] }
  | { readonly type: 'rule' }

/** An item of a list. `checked` is null if it has no box. */
export type Item = { readonly checked: boolean | null; readonly blocks: readonly Block[] }

/** A cell of a table: its text, and how the column is aligned. */
export type Cell = { readonly align: 'left' | 'center' | 'right' | null; readonly inner: readonly Inline[] }

/** A note at the end of the text. */
export type Footnote = { readonly number: number; readonly blocks: readonly Block[] }
