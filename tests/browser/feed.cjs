// Prints an Atom feed as a feed reader's parser understands it: node feed.cjs FILE
const { parseAtomFeed } = require("feedsmith");
const { readFileSync } = require("node:fs");

console.log(JSON.stringify(parseAtomFeed(readFileSync(process.argv[2], "utf-8"))));
