"""List the words that names and contents of every world are made of.

    from authoring.templates.words import EXTENSIONS, WORDS

Reads   nothing
Writes  nothing
Needs   nothing

Short and common, so that a small tokenizer can hold each as one token. No word here is a shell command or belongs to
the sentences around the names: masking them is what tells a frame from a name.
"""

_LIST = """
acorn adobe agate alder almond alpine amber anchor angle anvil apple apron arbor arctic armor arrow aspen atlas
attic autumn avenue azure badge badger bagel baker balcony ballad bamboo banana banjo barley barn baron basil basin
basket bath bay beacon bead beagle beam bean bear beaver bee beech beetle bell belt bench berry birch bird bison
blanket blaze bloom blossom blue bolt bone bonnet boot bottle boulder bow bowl bramble brass bread breeze brick bridge
brook broom bronze brush bubble bucket buckle bugle butter button cabin cable cactus cake camel camera camp canal
candle canoe canvas canyon cape captain caramel cargo carpet carrot castle cavern cedar cello cement chalk chapel
cherry chess chestnut chicken chimney cider cinder cinnamon circus citrus clam clarinet clay cliff cloak clock cloud
clover coal coast cobalt cobra cocoa coconut coffee comet compass copper coral cork corn cotton cougar cove coyote
crab cradle crane crater cricket crimson crocus crow crown crystal cube cypress daisy dancer dawn deer delta denim
desert dew diamond dolphin donkey dove dragon drum duck dune dusk eagle earth easel egret elbow elder elephant elk elm
ember emerald evening falcon farm farmer feather fence fennel fern ferry fiddle fig finch fir flame flannel flint
flood flour flower flute foam fog forest forge fossil fountain fox frost fruit funnel galaxy gallery garden garlic
garnet gate gazelle gecko geyser ginger giraffe glacier glade glass glove goat goose granite grape grass gravel
green grove guitar gull hamlet hammer harbor harp harvest hawk hazel heather hedge helmet hermit heron hickory hill
hinge honey hood horizon horn horse hotel hound hunter ice iguana indigo ink iris iron island ivory ivy jacket jade
jaguar jasmine jelly jewel jungle juniper kayak kennel kettle kitchen kite kitten kiwi koala ladder lagoon lake lamp
lantern larch lark laser laurel lava lavender lemon lemur leopard lichen lilac lily lime linen lion lizard llama
lobster locket lotus lumber lunar lynx magnet magpie mango maple marble marina market marlin marsh mason meadow medal
melon mercury meteor metal mill mint mist mitten moat monsoon moon moose morning mosaic moss moth motor mountain
muffin mule museum mushroom mustard napkin nectar needle nest nettle nickel night nimbus noodle north nutmeg oak oasis
oat oboe ocean ochre octopus olive onion opal opera orange orbit orchard orchid organ osprey otter owl oxide oyster
paddle pagoda palace palm panda panther papaya parade parrot parsley pasta peach peacock peanut pear pearl pebble
pelican pencil penguin pepper petal phoenix piano pickle pigeon pillow pilot pine pink pioneer pirate planet plaza
plum pocket poem polar pond pony poplar poppy porch potato prairie prism puffin pulley pumpkin puppet purple puzzle
quail quarry quartz queen quill quilt rabbit raccoon radar radish raft rain rainbow raisin ranch raven reef ribbon
rice ridge river roast robin rocket rose ruby saddle saffron sage sailor salad salmon salt sand sandal sapphire satin
saturn scarf scarlet school scooter seal shadow shark sheep shore shrimp silk silver siren sketch sky slate sleet
sloth smoke snail snow soap solar sonnet soup south sparrow spice spider spinach spiral spring spruce squash squid
stable star statue steam steel stone stork storm stove straw stream studio sugar summer summit sun sunset swallow swan
tango teapot temple tennis thimble thistle thunder tide tiger timber toast tomato topaz torch tornado tortoise tower
trail train trout truffle trumpet tulip tundra tunnel turbine turkey turnip turtle tuba umber umbrella valley vanilla
velvet venus vessel village vine vinegar violet violin volcano voyage waffle wagon walnut walrus warbler water wave
wax weasel west whale wheat wheel whistle willow winter wolf wombat wool wren yacht yarrow yellow yogurt zebra zinc
zephyr
"""
WORDS: tuple[str, ...] = tuple(_LIST.split())

# What providers are called with (templates/providers.py), and what else programs, their calls and keys are named.
_CALLS = """
about all answer board bulletin catalog detail digest display dump entries entry enum everything explain extract fetch
full gazette get give index inquire item journal keys known list menu n names number on open outline pages part peek
pick piece point print pull query quote rack read reader recall recite register report request reveal roll section see
serve sheet shelf show slot speak subjects table take tell ticket titles today topics unit utter view voice watch what
"""
_CALLED = """
agenda archive ask banner binder bite book brief browse bureau call chart check chores clerk counter crew ctl desk
dispatch docket drawer duty errand feed file find folder guide hold info inspect ledger load locate log lookup manual
memo mention next notes office order orders page plan planner porter post record roster rota scan schedule search shift
sign slip stack state steward summon tray unroll where window
"""
CALLS: tuple[str, ...] = tuple(_CALLS.split())
CALLED: tuple[str, ...] = tuple(_CALLED.split())

EXTENSIONS: tuple[str, ...] = (
    "txt", "log", "md", "csv", "tsv", "conf", "ini", "cfg", "dat", "bak", "tmp", "old", "list", "note", "gz", "tar",
    "tgz", "jpg", "png", "pdf", "html", "json", "xml", "sh", "py", "c", "h", "out", "text", "orig", "env", "yml", "rst",
    "tab", "part", "new",
)  # fmt: skip
