import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import { isCallExpression, isIdentifier, isPropertyAccessExpression } from 'typescript/unstable/ast/is'
import { API, type Project } from 'typescript/unstable/sync'

const root = resolve(import.meta.dirname, '../..')

/** Reads files with the type of the receiver written before the name of each called method: `one.‹Session›messages()`. */
export type ReceiverTypes = {
  readonly read: (path: string) => string
  readonly close: () => void
}

/** Opens the type checker. A variable may have any name: a receiver of one of these types is marked. */
export function openReceiverTypes(marked: readonly string[]): ReceiverTypes {
  const api = new API({ cwd: root })
  const config = join(root, 'tsconfig.json')
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
  if (!project) throw new Error(`${config} is not a project.`)
  const known = new Map<string, string>()
  return {
    read: (path) => {
      const text = known.get(path) ?? markReceivers(project, path, marked)
      known.set(path, text)
      return text
    },
    close: () => api.close(),
  }
}

function markReceivers({ program, checker }: Project, path: string, marked: readonly string[]): string {
  const text = readFileSync(join(root, path), 'utf8')
  const source = program.getSourceFile(join(root, path))
  if (!source) return text
  const calls = methodCalls(source)
  const types = checker.getTypeAtLocation(calls.map(({ receiver }) => receiver))
  let result = ''
  let end = 0
  for (const [index, { nameAt }] of calls.entries()) {
    const type = types[index]
    const name = type ? checker.typeToString(type) : ''
    if (!marked.includes(name)) continue
    result += `${text.slice(end, nameAt)}‹${name}›`
    end = nameAt
  }
  return result + text.slice(end)
}

type MethodCall = { readonly receiver: Node; readonly nameAt: number }

/** Returns the calls of methods, in the order of their names. */
function methodCalls(source: SourceFile): readonly MethodCall[] {
  const found: MethodCall[] = []
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      const { expression: receiver, name } = node.expression
      if (isIdentifier(name)) found.push({ receiver, nameAt: name.end - name.text.length })
    }
    node.forEachChild(visit)
  }
  visit(source)
  return found.sort((a, b) => a.nameAt - b.nameAt)
}
