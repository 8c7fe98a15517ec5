// The visitor of swc does not know `using` yet, and stops at the first one it meets.
import { Visitor } from '@swc/core/Visitor.js'
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'

type Using = { readonly type: string; readonly decls: Parameters<Visitor['visitVariableDeclarators']>[0] }
const { visitStatement } = Visitor.prototype
Visitor.prototype.visitStatement = function (this: Visitor, statement) {
  const using = statement as unknown as Using // a type of statement that swc's own list lacks
  if (using.type !== 'UsingDeclaration') return visitStatement.call(this, statement)
  this.visitVariableDeclarators(using.decls)
  return statement
}

/** All that stands only in tests: they may import anything. */
export const inTests = '([.](test|fixture)[.]tsx?$|/testing/|^test/)'

/** The modules of the product and the rules they break. */
export async function cruiseProduct(forbidden: readonly IForbiddenRuleType[]): Promise<ICruiseResult> {
  const { output } = await cruise(
    ['packages'],
    {
      // Without swc it sees no TypeScript 7 at all, checks nothing and is green.
      parser: 'swc',
      tsPreCompilationDeps: true, // a type-only import is still an arrow between layers
      doNotFollow: { path: 'node_modules' },
      exclude: { path: [inTests, '^packages/web/dist/', '[.]config[.]ts$'] },
      validate: true,
      ruleSet: { forbidden: [...forbidden] },
    },
    {
      exportsFields: ['exports'],
      conditionNames: ['import', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  )
  if (typeof output === 'string') throw new Error('dependency-cruiser gave a report instead of a result')
  return output
}
