// Uses a model of the program: any object that fulfils the `Provider` port.
import { openHoldfast } from 'holdfast'
import { echo } from './echo.ts'

await using holdfast = await openHoldfast({ store: 'memory:', models: { 'own/echo': echo } })
const session = await holdfast.startSession({ model: 'own/echo' })
console.log(await session.prompt('Is anybody there?').text())
