/** What a piece of code is, for its colour. Empty: nothing special. */
export type CodeRole =
  | ''
  | 'comment'
  | 'keyword'
  | 'string'
  | 'number'
  | 'name'
  | 'type'
  | 'property'
  | 'meta'
  | 'added'
  | 'removed'

/** A piece of code. The texts of all pieces together are the code. */
export type Piece = readonly [role: CodeRole, text: string]

/** A node of the tree that highlight.js makes. */
export type ScopeNode = { readonly scope?: string | undefined; readonly children: readonly (ScopeNode | string)[] }

/** By the first word of a scope, or by the whole scope. */
const roles: Readonly<Record<string, CodeRole>> = {
  comment: 'comment',
  quote: 'comment',
  doctag: 'keyword',
  keyword: 'keyword',
  'selector-tag': 'keyword',
  string: 'string',
  regexp: 'string',
  char: 'string',
  link: 'string',
  symbol: 'number',
  number: 'number',
  literal: 'number',
  title: 'name',
  section: 'name',
  name: 'keyword',
  tag: '',
  type: 'type',
  class: 'type',
  'title.class': 'type',
  built_in: 'type',
  attr: 'property',
  attribute: 'property',
  property: 'property',
  variable: 'property',
  'template-variable': 'property',
  bullet: 'number',
  meta: 'meta',
  'selector-class': 'name',
  'selector-id': 'name',
  'selector-attr': 'property',
  'selector-pseudo': 'meta',
  addition: 'added',
  deletion: 'removed',
  code: 'string',
  'title.class.inherited': 'type',
  subst: '',
  params: '',
  operator: '',
  punctuation: '',
}

/** Returns the pieces of a tree. Neighbours with the same role are one piece: fewer elements to draw. */
export function piecesOf(root: ScopeNode): readonly Piece[] {
  const pieces: (readonly [CodeRole, string])[] = []
  const add = (role: CodeRole, text: string) => {
    const last = pieces.at(-1)
    if (last && (last[0] === role || text.trim() === '')) pieces[pieces.length - 1] = [last[0], last[1] + text]
    else pieces.push([role, text])
  }
  const walk = ({ scope, children }: ScopeNode, above: CodeRole) => {
    const role = scope === undefined ? above : (roleOf(scope) ?? above)
    for (const child of children) {
      if (typeof child === 'string') add(role, child)
      else walk(child, role)
    }
  }
  walk(root, '')
  return pieces
}

function roleOf(scope: string): CodeRole | null {
  const first = scope.split('.')[0] ?? ''
  const name = Object.hasOwn(roles, scope) ? scope : first
  return Object.hasOwn(roles, name) ? (roles[name] ?? null) : null
}
