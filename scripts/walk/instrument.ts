import { parse } from 'acorn'

/** The parts of a syntax tree node that this file reads. */
type Node = {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

/** Inserts `holdfastWalk(index)` at the start of each function; `register` gives the index for a function's name. */
export function instrument(source: string, register: (name: string) => number): string {
  const inserted: { readonly at: number; readonly text: string }[] = []

  function visit(node: Node, name: string): void {
    if (/Function/.test(node.type)) {
      const body = node['body'] as Node // every function has one
      const call = `globalThis.holdfastWalk(${register(ownName(node) ?? name)})`
      if (body.type === 'BlockStatement') inserted.push({ at: body.start + 1, text: `${call};` })
      else inserted.push({ at: body.start, text: `(${call},` }, { at: body.end, text: ')' })
    }
    for (const [field, value] of Object.entries(node)) {
      const children = Array.isArray(value) ? value : [value]
      for (const child of children) if (isNode(child)) visit(child, nameOf(node, field, name))
    }
  }

  visit(
    parse(source, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }) as unknown as Node,
    'module',
  )
  // Later insertions first, so that the earlier positions stay right; a wrapper ends before the one around it.
  return inserted
    .toSorted((left, right) => right.at - left.at)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source)
}

const ownName = (node: Node): string | null => (isNode(node['id']) ? String(node['id']['name']) : null)

/** The name a reader would use for a function in this field of a node: its variable, property or method. */
function nameOf(node: Node, field: string, name: string): string {
  const named = node['key'] ?? node['id'] ?? node['left']
  const isNamed = [
    'Property',
    'MethodDefinition',
    'PropertyDefinition',
    'VariableDeclarator',
    'AssignmentExpression',
  ].includes(node.type)
  if (isNamed && field !== 'key' && isNode(named)) return String(named['name'] ?? named['value'] ?? name)
  if (/Function/.test(node.type)) return `${ownName(node) ?? name} callback`
  return name
}
